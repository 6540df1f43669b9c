#include "tests/support/cuda/emulated_gpu.h"

#include "kernels/cuda/device_on_host.h"
#include "tests/support/cuda/grid.h"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

using namespace kernels::cuda;

// ---- what the handles stand for ----

/// A point in a queue that others wait for.
struct Moment {
    bool reached = false;
    std::chrono::steady_clock::time_point time{};
};

using Task = std::function<void()>;

/// What a queue, and those that joined it, record instead of doing.
struct Capture {
    Queue origin = nullptr;
    std::vector<Task> tasks;
    bool invalid = false;
};

namespace kernels::cuda {

struct ContextTag {
};
struct ModuleTag {
    std::string file;
};
struct FunctionTag {
    const host::HostKernel* kernel;
};
struct EventTag {
    std::shared_ptr<Moment> moment = std::make_shared<Moment>(Moment{true});  // an event never recorded has happened
    std::shared_ptr<Capture> capture;
};
struct GraphTag {
    std::vector<Task> tasks;
};
struct GraphExecTag {
    std::shared_ptr<std::vector<Task>> tasks;
};
struct QueueTag {
    std::deque<Task> tasks;
    bool busy = false;
    bool closing = false;
    std::shared_ptr<Capture> capture;
    std::thread thread;
};

}  // namespace kernels::cuda

namespace emulator {

namespace {

constexpr Status kInvalidHandle{400};

struct FreeAligned {
    void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{256}); }
};
using Memory = std::unique_ptr<std::byte[], FreeAligned>;

struct Allocation {
    Memory memory;
    std::size_t bytes;
};

// The bytes of never written memory: not a number as a float or a half.
Memory poisoned(std::size_t bytes)
{
    Memory memory(new (std::align_val_t{256}) std::byte[bytes]);
    std::memset(memory.get(), 0xff, bytes);
    return memory;
}

}  // namespace

struct EmulatedGpu::State {
    GpuFacts facts;
    mutable std::mutex mutex;
    std::condition_variable changed;  // any queue, event or moment

    int calls = 0;
    int fail_at = 0;
    Status fail_with = Status::Ok;
    Status lost = Status::Ok;

    ContextTag context;
    int context_uses = 0;
    std::map<std::uintptr_t, Allocation> device, pinned;
    std::size_t used = 0, peak = 0, held = 0;
    std::set<Module> modules;
    std::map<std::string, FunctionTag> functions;
    std::set<Queue> queues;
    std::set<Event> events;
    std::set<Graph> graphs;
    std::set<GraphExec> execs;
    std::string fault;
    int kernels_run = 0;
};

namespace {

EmulatedGpu::State* gpu = nullptr;
thread_local Context current_context = nullptr;

using Lock = std::unique_lock<std::mutex>;

/// The beginning of every driver function: counts the call, and answers instead of it where it must fail.
struct Call {
    Lock lock;
    Status status = Status::Ok;

    enum class Needs { Nothing, Context };

    explicit Call(Needs needs = Needs::Context)
    {
        if (!gpu) {
            status = Status::NotInitialized;
            return;
        }
        lock = Lock(gpu->mutex);
        ++gpu->calls;
        if (gpu->lost != Status::Ok) {
            status = gpu->lost;
        } else if (gpu->calls == gpu->fail_at) {
            status = gpu->fail_with;
            if (is_device_lost(status))
                gpu->lost = status;
            gpu->changed.notify_all();
        } else if (needs == Needs::Context && current_context != &gpu->context) {
            status = Status::InvalidContext;
        }
    }
    bool refused() const { return status != Status::Ok; }
};

// ---- queues ----

void run_queue(Queue queue)
{
    Lock lock(gpu->mutex);
    for (;;) {
        gpu->changed.wait(lock, [&] { return queue->closing || !queue->tasks.empty(); });
        if (queue->tasks.empty())
            return;
        const Task task = std::move(queue->tasks.front());
        queue->tasks.pop_front();
        queue->busy = true;
        lock.unlock();
        task();
        lock.lock();
        queue->busy = false;
        gpu->changed.notify_all();
    }
}

bool lost()
{
    const Lock lock(gpu->mutex);
    return gpu->lost != Status::Ok;
}

Status enqueue(Queue queue, Task task)
{
    if (!gpu->queues.count(queue))
        return kInvalidHandle;
    if (queue->capture)
        queue->capture->tasks.push_back(std::move(task));
    else
        queue->tasks.push_back([task = std::move(task)] {
            if (!lost())
                task();
        });
    gpu->changed.notify_all();
    return Status::Ok;
}

bool idle(Queue queue)
{
    return gpu->lost != Status::Ok || (queue->tasks.empty() && !queue->busy);
}

// What may not be called while a queue captures makes the capture useless.
bool spoils_capture()
{
    bool spoilt = false;
    for (Queue queue : gpu->queues)
        if (queue->capture) {
            queue->capture->invalid = true;
            spoilt = true;
        }
    return spoilt;
}

bool inside(const std::map<std::uintptr_t, Allocation>& memory, std::uintptr_t at, std::size_t bytes)
{
    auto after = memory.upper_bound(at);
    if (after == memory.begin())
        return false;
    const auto& [begin, allocation] = *--after;
    return at + bytes <= begin + allocation.bytes;
}

bool on_device(DevicePtr at, std::size_t bytes)
{
    return inside(gpu->device, at, bytes);
}

bool is_pinned(const void* at, std::size_t bytes)
{
    return inside(gpu->pinned, reinterpret_cast<std::uintptr_t>(at), bytes);
}

void* address(DevicePtr at)
{
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(at));
}

// ---- the driver's functions ----

Status init(unsigned)
{
    return Call(Call::Needs::Nothing).status;
}

Status driver_version(int* version)
{
    const Call call(Call::Needs::Nothing);
    if (!call.refused())
        *version = gpu->facts.driver_version;
    return call.status;
}

Status error_text(Status status, const char** text)
{
    switch (status) {
    case Status::OutOfMemory:
        *text = "out of memory";
        return Status::Ok;
    case Status::LaunchFailed:
        *text = "unspecified launch failure";
        return Status::Ok;
    default:
        *text = "an emulated error";
        return Status::Ok;
    }
}

Status device_count(int* count)
{
    const Call call(Call::Needs::Nothing);
    if (!call.refused())
        *count = gpu->facts.count;
    return call.status;
}

Status device_get(DeviceId* device, int ordinal)
{
    const Call call(Call::Needs::Nothing);
    if (call.refused())
        return call.status;
    *device = ordinal;
    return ordinal < gpu->facts.count ? Status::Ok : Status::InvalidDevice;
}

Status device_name(char* name, int length, DeviceId)
{
    const Call call(Call::Needs::Nothing);
    if (!call.refused())
        name[gpu->facts.name.copy(name, std::size_t(length) - 1)] = '\0';
    return call.status;
}

Status device_memory(std::size_t* bytes, DeviceId)
{
    const Call call(Call::Needs::Nothing);
    if (!call.refused())
        *bytes = gpu->facts.memory_bytes;
    return call.status;
}

Status device_attribute(int* value, DeviceAttribute attribute, DeviceId)
{
    const Call call(Call::Needs::Nothing);
    if (call.refused())
        return call.status;
    switch (attribute) {
    case DeviceAttribute::Multiprocessors:
        *value = gpu->facts.multiprocessors;
        break;
    case DeviceAttribute::L2Bytes:
        *value = 4 << 20;
        break;
    case DeviceAttribute::ComputeMajor:
        *value = gpu->facts.compute_major;
        break;
    case DeviceAttribute::ComputeMinor:
        *value = gpu->facts.compute_minor;
        break;
    }
    return Status::Ok;
}

Status context_retain(Context* context, DeviceId)
{
    const Call call(Call::Needs::Nothing);
    if (call.refused())
        return call.status;
    ++gpu->context_uses;
    *context = &gpu->context;
    return Status::Ok;
}

Status context_release(DeviceId)
{
    const Call call(Call::Needs::Nothing);
    if (gpu)
        --gpu->context_uses;
    return call.status;
}

Status context_set_current(Context context)
{
    const Call call(Call::Needs::Nothing);
    if (!call.refused())
        current_context = context;
    return call.status;
}

Status module_load(Module* module, const void* image)
{
    const Call call;
    if (call.refused())
        return call.status;
    *module = *gpu->modules.insert(new ModuleTag{static_cast<const char*>(image)}).first;
    return Status::Ok;
}

Status module_unload(Module module)
{
    const Call call;
    if (gpu && gpu->modules.erase(module))
        delete module;
    return call.status;
}

Status module_function(Function* function, Module module, const char* name)
{
    const Call call;
    if (call.refused())
        return call.status;
    const host::HostKernel* kernel = find_kernel(name);
    if (!gpu->modules.count(module) || !kernel)
        return Status::NotFound;
    *function = &gpu->functions.emplace(name, FunctionTag{kernel}).first->second;
    return Status::Ok;
}

Status memory_info(std::size_t* free_bytes, std::size_t* total_bytes)
{
    const Call call;
    if (call.refused())
        return call.status;
    const std::size_t taken = gpu->used + gpu->held;
    *total_bytes = gpu->facts.memory_bytes;
    *free_bytes = gpu->facts.memory_bytes - std::min(taken, gpu->facts.memory_bytes);
    return Status::Ok;
}

Status memory_alloc(DevicePtr* ptr, std::size_t bytes)
{
    const Call call;
    if (call.refused())
        return call.status;
    if (spoils_capture())
        return Status::CaptureUnsupported;
    if (bytes == 0)
        return Status::InvalidValue;
    if (gpu->used + gpu->held + bytes > gpu->facts.memory_bytes)
        return Status::OutOfMemory;
    Allocation allocation{poisoned(bytes), bytes};
    const auto at = reinterpret_cast<std::uintptr_t>(allocation.memory.get());
    gpu->device.emplace(at, std::move(allocation));
    gpu->used += bytes;
    gpu->peak = std::max(gpu->peak, gpu->used);
    *ptr = at;
    return Status::Ok;
}

// Waits for all that is under way, as the real one does. Memory of a lost device is gone too.
Status memory_free(DevicePtr ptr)
{
    Call call;
    if (!gpu)
        return call.status;
    gpu->changed.wait(call.lock, [] {
        for (Queue queue : gpu->queues)
            if (queue->busy || (gpu->lost == Status::Ok && !queue->tasks.empty()))
                return false;
        return true;
    });
    const auto found = gpu->device.find(static_cast<std::uintptr_t>(ptr));
    if (found == gpu->device.end())
        return call.refused() ? call.status : Status::InvalidValue;
    if (call.refused() && gpu->lost == Status::Ok)
        return call.status;
    gpu->used -= found->second.bytes;
    gpu->device.erase(found);
    return call.status;
}

Status pinned_alloc(void** ptr, std::size_t bytes, unsigned)
{
    const Call call;
    if (call.refused())
        return call.status;
    if (spoils_capture())
        return Status::CaptureUnsupported;
    Allocation allocation{poisoned(bytes), bytes};
    *ptr = allocation.memory.get();
    gpu->pinned.emplace(reinterpret_cast<std::uintptr_t>(*ptr), std::move(allocation));
    return Status::Ok;
}

Status pinned_free(void* ptr)
{
    const Call call;
    if (call.refused() && (!gpu || gpu->lost == Status::Ok))
        return call.status;
    const bool found = gpu->pinned.erase(reinterpret_cast<std::uintptr_t>(ptr));
    return found ? call.status : Status::InvalidValue;
}

// Memory that is not pinned is read at once and written before the call returns, as by the real one.
Status copy_to_device(DevicePtr to, const void* from, std::size_t bytes, Queue queue)
{
    const Call call;
    if (call.refused())
        return call.status;
    if (!on_device(to, bytes))
        return Status::InvalidValue;
    if (is_pinned(from, bytes))
        return enqueue(queue, [=] { std::memcpy(address(to), from, bytes); });
    const auto* first = static_cast<const std::byte*>(from);
    const auto kept = std::make_shared<std::vector<std::byte>>(first, first + bytes);
    return enqueue(queue, [=] { std::memcpy(address(to), kept->data(), bytes); });
}

Status copy_to_host(void* to, DevicePtr from, std::size_t bytes, Queue queue)
{
    Call call;
    if (call.refused())
        return call.status;
    if (!on_device(from, bytes))
        return Status::InvalidValue;
    const bool waits = !is_pinned(to, bytes);
    if (waits && queue && queue->capture)
        return Status::CaptureUnsupported;
    const Status queued = enqueue(queue, [=] { std::memcpy(to, address(from), bytes); });
    if (waits && queued == Status::Ok)
        gpu->changed.wait(call.lock, [&] { return idle(queue) && !queue->busy; });
    return queued != Status::Ok ? queued : gpu->lost;
}

Status copy_on_device(DevicePtr to, DevicePtr from, std::size_t bytes, Queue queue)
{
    const Call call;
    if (call.refused())
        return call.status;
    // Pinned memory has one address on both sides.
    const auto known = [&](DevicePtr at) { return on_device(at, bytes) || is_pinned(address(at), bytes); };
    if (!known(to) || !known(from))
        return Status::InvalidValue;
    return enqueue(queue, [=] { std::memcpy(address(to), address(from), bytes); });
}

Status fill(DevicePtr to, unsigned char value, std::size_t bytes, Queue queue)
{
    const Call call;
    if (call.refused())
        return call.status;
    if (!on_device(to, bytes))
        return Status::InvalidValue;
    return enqueue(queue, [=] { std::memset(address(to), value, bytes); });
}

Status queue_create(Queue* queue, unsigned, int)
{
    const Call call;
    if (call.refused())
        return call.status;
    *queue = *gpu->queues.insert(new QueueTag).first;
    (*queue)->thread = std::thread(run_queue, *queue);
    return Status::Ok;
}

// What is queued is still done.
void close(Queue queue, Lock& lock)
{
    gpu->queues.erase(queue);
    queue->closing = true;
    gpu->changed.notify_all();
    lock.unlock();
    queue->thread.join();
    lock.lock();
    delete queue;
}

Status queue_destroy(Queue queue)
{
    Call call;
    if (!gpu || (call.refused() && gpu->lost == Status::Ok))
        return call.status;
    if (!gpu->queues.count(queue))
        return kInvalidHandle;
    close(queue, call.lock);
    return call.status;
}

Status queue_synchronize(Queue queue)
{
    Call call;
    if (call.refused())
        return call.status;
    if (!gpu->queues.count(queue))
        return kInvalidHandle;
    if (queue->capture) {
        queue->capture->invalid = true;
        return Status::CaptureUnsupported;
    }
    gpu->changed.wait(call.lock, [&] { return idle(queue); });
    return gpu->lost;
}

Status queue_wait_event(Queue queue, Event event, unsigned)
{
    const Call call;
    if (call.refused())
        return call.status;
    if (!gpu->queues.count(queue) || !gpu->events.count(event))
        return kInvalidHandle;
    if (event->capture) {
        if (queue->capture && queue->capture != event->capture)
            return Status::CaptureInvalidated;
        queue->capture = event->capture;
        return Status::Ok;  // a captured graph is done in the order of its calls
    }
    if (queue->capture)
        return Status::CaptureUnsupported;  // an event from outside
    return enqueue(queue, [moment = event->moment] {
        Lock lock(gpu->mutex);
        gpu->changed.wait(lock, [&] { return moment->reached || gpu->lost != Status::Ok; });
    });
}

Status queue_begin_capture(Queue queue, int)
{
    const Call call;
    if (call.refused())
        return call.status;
    if (!gpu->queues.count(queue) || queue->capture)
        return kInvalidHandle;
    queue->capture = std::make_shared<Capture>();
    queue->capture->origin = queue;
    return Status::Ok;
}

Status queue_end_capture(Queue queue, Graph* graph)
{
    const Call call;
    if (call.refused())
        return call.status;
    if (!gpu->queues.count(queue) || !queue->capture || queue->capture->origin != queue)
        return kInvalidHandle;
    const std::shared_ptr<Capture> capture = queue->capture;
    for (Queue joined : gpu->queues)
        if (joined->capture == capture)
            joined->capture = nullptr;
    if (capture->invalid)
        return Status::CaptureInvalidated;
    *graph = *gpu->graphs.insert(new GraphTag{capture->tasks}).first;
    return Status::Ok;
}

Status event_create(Event* event, unsigned)
{
    const Call call;
    if (!call.refused())
        *event = *gpu->events.insert(new EventTag).first;
    return call.status;
}

Status event_destroy(Event event)
{
    const Call call;
    if (!gpu || (call.refused() && gpu->lost == Status::Ok))
        return call.status;
    if (!gpu->events.erase(event))
        return kInvalidHandle;
    delete event;
    return call.status;
}

Status event_record(Event event, Queue queue)
{
    const Call call;
    if (call.refused())
        return call.status;
    if (!gpu->events.count(event) || !gpu->queues.count(queue))
        return kInvalidHandle;
    event->capture = queue->capture;
    if (queue->capture)
        return Status::Ok;
    event->moment = std::make_shared<Moment>();
    return enqueue(queue, [moment = event->moment] {
        const Lock lock(gpu->mutex);
        moment->time = std::chrono::steady_clock::now();
        moment->reached = true;
        gpu->changed.notify_all();
    });
}

Status event_query(Event event)
{
    const Call call;
    if (call.refused())
        return call.status;
    if (!gpu->events.count(event))
        return kInvalidHandle;
    return event->moment->reached ? Status::Ok : Status::NotReady;
}

Status event_synchronize(Event event)
{
    Call call;
    if (call.refused())
        return call.status;
    if (!gpu->events.count(event))
        return kInvalidHandle;
    if (event->capture)
        return Status::CaptureUnsupported;
    gpu->changed.wait(call.lock, [moment = event->moment] { return moment->reached || gpu->lost != Status::Ok; });
    return gpu->lost;
}

Status event_elapsed_ms(float* milliseconds, Event from, Event to)
{
    const Call call;
    if (call.refused())
        return call.status;
    if (!gpu->events.count(from) || !gpu->events.count(to))
        return kInvalidHandle;
    if (!from->moment->reached || !to->moment->reached)
        return Status::NotReady;
    *milliseconds = std::chrono::duration<float, std::milli>(to->moment->time - from->moment->time).count();
    return Status::Ok;
}

Status graph_instantiate(GraphExec* exec, Graph graph, unsigned long long)
{
    const Call call;
    if (call.refused())
        return call.status;
    if (!gpu->graphs.count(graph))
        return kInvalidHandle;
    *exec = *gpu->execs.insert(new GraphExecTag{std::make_shared<std::vector<Task>>(graph->tasks)}).first;
    return Status::Ok;
}

Status graph_launch(GraphExec exec, Queue queue)
{
    const Call call;
    if (call.refused())
        return call.status;
    if (!gpu->execs.count(exec))
        return kInvalidHandle;
    return enqueue(queue, [tasks = exec->tasks] {
        for (const Task& task : *tasks)
            if (!lost())
                task();
    });
}

Status graph_destroy(Graph graph)
{
    const Call call;
    if (!gpu || !gpu->graphs.erase(graph))
        return kInvalidHandle;
    delete graph;
    return call.status;
}

Status graph_exec_destroy(GraphExec exec)
{
    const Call call;
    if (!gpu || !gpu->execs.erase(exec))
        return kInvalidHandle;
    delete exec;
    return call.status;
}

Status launch_kernel(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                     unsigned block_y, unsigned block_z, unsigned shared_bytes, Queue queue, void** arguments, void**)
{
    const Call call;
    if (call.refused())
        return call.status;
    if (!function || grid_x == 0 || grid_y == 0 || grid_z == 0 || grid_y > 65535 || grid_z > 65535)
        return Status::InvalidValue;
    const host::HostKernel& kernel = *function->kernel;
    std::vector<std::vector<std::byte>> kept;  // the caller's own do not outlive the call
    for (std::size_t i = 0; i < kernel.argument_bytes.size(); ++i) {
        const auto* bytes = static_cast<const std::byte*>(arguments[i]);
        kept.emplace_back(bytes, bytes + kernel.argument_bytes[i]);
    }
    const GridDim grid{grid_x, grid_y, grid_z};
    const GridDim block{block_x, block_y, block_z};
    return enqueue(queue, [&kernel, kept = std::move(kept), grid, block, shared_bytes]() mutable {
        std::vector<void*> pointers;
        for (std::vector<std::byte>& argument : kept)
            pointers.push_back(argument.data());
        const std::string fault = run_grid(kernel, pointers.data(), grid, block, shared_bytes);
        const Lock lock(gpu->mutex);
        ++gpu->kernels_run;
        if (!fault.empty() && gpu->lost == Status::Ok) {
            gpu->fault = fault;
            gpu->lost = Status::LaunchFailed;
        }
    });
}

}  // namespace

// ---- the object ----

EmulatedGpu::EmulatedGpu(const GpuFacts& facts)
    : state_(std::make_unique<State>())
{
    state_->facts = facts;
    gpu = state_.get();
}

EmulatedGpu::~EmulatedGpu()
{
    Lock lock(gpu->mutex);
    while (!gpu->queues.empty())
        close(*gpu->queues.begin(), lock);
    for (Module module : gpu->modules)
        delete module;
    for (Event event : gpu->events)
        delete event;
    for (Graph graph : gpu->graphs)
        delete graph;
    for (GraphExec exec : gpu->execs)
        delete exec;
    gpu = nullptr;
}

const DriverTable& EmulatedGpu::table()
{
    static const DriverTable table = {
        .init = init,
        .driver_version = driver_version,
        .error_text = error_text,
        .device_count = device_count,
        .device_get = device_get,
        .device_name = device_name,
        .device_memory = device_memory,
        .device_attribute = device_attribute,
        .context_retain = context_retain,
        .context_release = context_release,
        .context_set_current = context_set_current,
        .module_load = module_load,
        .module_unload = module_unload,
        .module_function = module_function,
        .memory_info = memory_info,
        .memory_alloc = memory_alloc,
        .memory_free = memory_free,
        .pinned_alloc = pinned_alloc,
        .pinned_free = pinned_free,
        .copy_to_device = copy_to_device,
        .copy_to_host = copy_to_host,
        .copy_on_device = copy_on_device,
        .fill = fill,
        .queue_create = queue_create,
        .queue_destroy = queue_destroy,
        .queue_synchronize = queue_synchronize,
        .queue_wait_event = queue_wait_event,
        .queue_begin_capture = queue_begin_capture,
        .queue_end_capture = queue_end_capture,
        .event_create = event_create,
        .event_destroy = event_destroy,
        .event_record = event_record,
        .event_query = event_query,
        .event_synchronize = event_synchronize,
        .event_elapsed_ms = event_elapsed_ms,
        .graph_instantiate = graph_instantiate,
        .graph_launch = graph_launch,
        .graph_destroy = graph_destroy,
        .graph_exec_destroy = graph_exec_destroy,
        .launch_kernel = launch_kernel,
    };
    return table;
}

KernelImages EmulatedGpu::images()
{
    static const std::vector<KernelImage> files = [] {
        std::vector<KernelImage> all;
        std::set<std::string> seen;
#define SPILLWAY_FILE(file, name)                                                                                      \
    if (seen.insert(#file).second)                                                                                     \
        all.push_back({#file, #file});
        SPILLWAY_CUDA_KERNELS(SPILLWAY_FILE)
#undef SPILLWAY_FILE
        return all;
    }();
    return {files, 13000};
}

void EmulatedGpu::fail_call(int n, Status status)
{
    const Lock lock(state_->mutex);
    state_->fail_at = state_->calls + n;
    state_->fail_with = status;
}

int EmulatedGpu::calls() const
{
    const Lock lock(state_->mutex);
    return state_->calls;
}

void EmulatedGpu::hold_memory(std::size_t bytes)
{
    const Lock lock(state_->mutex);
    state_->held = bytes;
}

std::size_t EmulatedGpu::used_bytes() const
{
    const Lock lock(state_->mutex);
    return state_->used;
}

std::size_t EmulatedGpu::peak_bytes() const
{
    const Lock lock(state_->mutex);
    return state_->peak;
}

std::string EmulatedGpu::fault() const
{
    const Lock lock(state_->mutex);
    return state_->fault;
}

int EmulatedGpu::kernels_run() const
{
    const Lock lock(state_->mutex);
    return state_->kernels_run;
}

std::string EmulatedGpu::leaks() const
{
    const Lock lock(state_->mutex);
    std::string all;
    const auto add = [&](std::size_t count, const char* what) {
        if (count)
            all += std::to_string(count) + " " + what + "; ";
    };
    add(state_->device.size(), "device allocations");
    add(state_->pinned.size(), "pinned allocations");
    add(state_->modules.size(), "modules");
    add(state_->queues.size(), "queues");
    add(state_->events.size(), "events");
    add(state_->graphs.size(), "graphs");
    add(state_->execs.size(), "instantiated graphs");
    add(std::size_t(state_->context_uses), "uses of the context");
    return all;
}

}  // namespace emulator
