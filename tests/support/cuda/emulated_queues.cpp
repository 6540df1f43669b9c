// Holds the emulated driver's functions for queues, each with a thread of its own, events, graphs, and the launch of
// kernels.
#include "tests/support/cuda/emulated_state.h"
#include "tests/support/cuda/grid.h"

#include <algorithm>

namespace emulator {

// ---- queues and their threads ----

static void run_queue(Queue queue)
{
    Lock lock(gpu->mutex);
    for (;;) {
        gpu->changed.wait(lock, [&] { return queue->closing || queue->submitted > 0; });
        if (queue->tasks.empty())
            return;
        const GivenTask given = std::move(queue->tasks.front());
        queue->tasks.pop_front();
        queue->submitted -= queue->submitted > 0 ? 1 : 0;
        queue->busy = true;
        lock.unlock();
        std::this_thread::sleep_until(given.not_before);
        given.task();
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
    if (queue->capture) {
        queue->capture->tasks.push_back(std::move(task));
        return Status::Ok;
    }
    const auto guarded = [task = std::move(task)] {
        if (!lost())
            task();
    };
    queue->tasks.push_back({guarded, gpu->facts.delay.count() > 0 ? std::chrono::steady_clock::now() + gpu->facts.delay
                                                                  : std::chrono::steady_clock::time_point{}});
    constexpr std::size_t kMostCollected = 1024;
    if (!gpu->facts.collects_work || queue->tasks.size() >= kMostCollected)
        submit(queue);
    return Status::Ok;
}

void submit(Queue queue)
{
    queue->submitted = queue->tasks.size();
    gpu->changed.notify_all();
}

void submit_all()
{
    for (Queue queue : gpu->queues)
        submit(queue);
}

void Call::wait_for_all()
{
    if (!gpu->facts.memory_calls_wait)
        return;
    gpu->waits_for_all = true;
    submit_all();
    gpu->changed.wait(lock, [] {
        for (Queue queue : gpu->queues)
            if (!idle(queue))
                return false;
        return true;
    });
    gpu->waits_for_all = false;
    gpu->changed.notify_all();
}

MemoryCalls& calls_of_this_thread()
{
    return gpu->memory_calls[std::this_thread::get_id()];
}

bool idle(Queue queue)
{
    return gpu->lost != Status::Ok || (queue->tasks.empty() && !queue->busy);
}

bool spoils_capture()
{
    if (gpu->lost != Status::Ok)
        return false;  // with the device its captures have ended
    bool spoilt = false;
    for (Queue queue : gpu->queues)
        if (queue->capture && queue->capture->thread == std::this_thread::get_id()) {
            queue->capture->invalid = true;
            spoilt = true;
        }
    return spoilt;
}

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

// ---- the driver's functions ----

namespace {

Status queue_create(Queue* queue, unsigned, int)
{
    const Call call;
    if (call.refused())
        return call.status;
    *queue = *gpu->queues.insert(new QueueTag).first;
    (*queue)->thread = std::thread(run_queue, *queue);
    return Status::Ok;
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
    if (spoils_capture())
        return Status::CaptureUnsupported;
    submit_all();
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
    queue->capture->thread = std::this_thread::get_id();
    return Status::Ok;
}

Status queue_end_capture(Queue queue, Graph* graph)
{
    const Call call;
    if (call.refused())
        return call.status;
    if (!gpu->queues.count(queue) || !queue->capture || queue->capture->origin != queue)
        return kInvalidHandle;
    if (queue->capture->thread != std::this_thread::get_id())
        return kWrongThread;
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
    if (spoils_capture() || event->capture)
        return Status::CaptureUnsupported;
    submit_all();
    return event->moment->reached ? Status::Ok : Status::NotReady;
}

Status event_synchronize(Event event)
{
    Call call;
    if (call.refused())
        return call.status;
    if (!gpu->events.count(event))
        return kInvalidHandle;
    if (spoils_capture() || event->capture)
        return Status::CaptureUnsupported;
    submit_all();
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
    ++gpu->graphs_made;
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

// A kernel that is told to begin early begins here only when those before it have ended. It fails all the same where
// its threads do not wait for them, as a GPU would have them do.
Status launch_any_kernel(const LaunchConfig& launch, bool early, Function function, void** arguments)
{
    const Call call;
    if (call.refused())
        return call.status;
    if (!function || launch.grid_x == 0 || launch.grid_y == 0 || launch.grid_z == 0 || launch.grid_y > 65535 ||
        launch.grid_z > 65535)
        return Status::InvalidValue;
    const host::HostKernel& kernel = *function->kernel;
    std::vector<std::vector<std::byte>> kept;  // the caller's own do not outlive the call
    for (std::size_t i = 0; i < kernel.argument_bytes.size(); ++i) {
        const auto* bytes = static_cast<const std::byte*>(arguments[i]);
        kept.emplace_back(bytes, bytes + kernel.argument_bytes[i]);
    }
    const GridDim grid{launch.grid_x, launch.grid_y, launch.grid_z};
    const GridDim block{launch.block_x, launch.block_y, launch.block_z};
    const std::size_t shared_bytes = launch.shared_bytes;
    return enqueue(launch.queue, [&kernel, kept = std::move(kept), grid, block, shared_bytes, early]() mutable {
        std::vector<void*> pointers;
        for (std::vector<std::byte>& argument : kept)
            pointers.push_back(argument.data());
        const std::uint64_t waited = host::waits;
        GridRun run = run_grid(kernel, pointers.data(), grid, block, shared_bytes);
        std::string& fault = run.fault;
        const std::uint64_t threads =
            std::uint64_t(grid.x) * grid.y * grid.z * std::uint64_t(block.x * block.y * block.z);
        if (fault.empty() && early && host::waits - waited < threads)
            fault = std::string(kernel.name) + ": begins early, and not all its threads wait for what was before";
        const Lock lock(gpu->mutex);
        ++gpu->kernels_run;
        gpu->longest_launch = std::max(gpu->longest_launch, run.stops);
        if (gpu->lost != Status::Ok)
            return;
        if (!fault.empty()) {
            gpu->fault = fault;
            gpu->lost = Status::LaunchFailed;
        } else if (gpu->facts.most_stops > 0 && run.stops > gpu->facts.most_stops) {
            gpu->fault = std::string(kernel.name) + ": takes too long, with " + std::to_string(run.stops) + " stops";
            gpu->lost = Status::LaunchTimeout;
        }
    });
}

Status launch_kernel(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                     unsigned block_y, unsigned block_z, unsigned shared_bytes, Queue queue, void** arguments, void**)
{
    return launch_any_kernel({grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, queue, nullptr, 0},
                             false, function, arguments);
}

Status launch_kernel_ex(const LaunchConfig* config, Function function, void** arguments, void**)
{
    const bool early = config->attribute_count == 1 && config->attributes->id == kMayBeginEarly &&
                       config->attributes->value == 1 && gpu->facts.compute_major >= 9;
    if (!early && config->attribute_count > 0)
        return Status::InvalidValue;
    return launch_any_kernel(*config, early, function, arguments);
}

}  // namespace

void add_queue_functions(DriverTable& table)
{
    table.queue_create = queue_create;
    table.queue_destroy = queue_destroy;
    table.queue_synchronize = queue_synchronize;
    table.queue_wait_event = queue_wait_event;
    table.queue_begin_capture = queue_begin_capture;
    table.queue_end_capture = queue_end_capture;
    table.event_create = event_create;
    table.event_destroy = event_destroy;
    table.event_record = event_record;
    table.event_query = event_query;
    table.event_synchronize = event_synchronize;
    table.event_elapsed_ms = event_elapsed_ms;
    table.graph_instantiate = graph_instantiate;
    table.graph_launch = graph_launch;
    table.graph_destroy = graph_destroy;
    table.graph_exec_destroy = graph_exec_destroy;
    table.launch_kernel = launch_kernel;
    table.launch_kernel_ex = launch_kernel_ex;
}

}  // namespace emulator
