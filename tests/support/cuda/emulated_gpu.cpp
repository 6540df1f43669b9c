#include "tests/support/cuda/emulated_state.h"

namespace emulator {

EmulatedGpu::State* gpu = nullptr;
constinit thread_local Context current_context = nullptr;

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
    static const DriverTable table = [] {
        DriverTable t{};
        add_device_functions(t);
        add_memory_functions(t);
        add_queue_functions(t);
        return t;
    }();
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

std::size_t EmulatedGpu::spilled_bytes() const
{
    const Lock lock(state_->mutex);
    return state_->spilled();
}

std::size_t EmulatedGpu::peak_spilled_bytes() const
{
    const Lock lock(state_->mutex);
    return state_->peak_spilled;
}

int EmulatedGpu::allocations() const
{
    const Lock lock(state_->mutex);
    return int(state_->device.size());
}

int EmulatedGpu::events() const
{
    const Lock lock(state_->mutex);
    return int(state_->events.size());
}

std::size_t EmulatedGpu::locked_bytes() const
{
    const Lock lock(state_->mutex);
    std::size_t bytes = 0;
    for (const auto& [at, length] : state_->registered)
        bytes += length;
    return bytes;
}

MemoryCalls EmulatedGpu::memory_calls() const
{
    const Lock lock(state_->mutex);
    return calls_of_this_thread();
}

MemoryCalls EmulatedGpu::memory_calls_of_all() const
{
    const Lock lock(state_->mutex);
    MemoryCalls all;
    for (const auto& [thread, calls] : state_->memory_calls) {
        all.allocations += calls.allocations;
        all.frees += calls.frees;
        all.fills += calls.fills;
        all.page_locks += calls.page_locks;
    }
    return all;
}

void EmulatedGpu::refuse_page_locks()
{
    const Lock lock(state_->mutex);
    state_->refuses_page_locks = true;
}

void EmulatedGpu::delay_page_locks(std::chrono::microseconds time)
{
    const Lock lock(state_->mutex);
    state_->page_lock_delay = time;
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

std::uint64_t EmulatedGpu::longest_launch() const
{
    const Lock lock(state_->mutex);
    return state_->longest_launch;
}

int EmulatedGpu::graphs_made() const
{
    const Lock lock(state_->mutex);
    return state_->graphs_made;
}

int EmulatedGpu::copies_recorded() const
{
    const Lock lock(state_->mutex);
    return state_->copies_recorded;
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
    add(state_->registered.size(), "pieces of page-locked memory");
    add(state_->modules.size(), "modules");
    add(state_->queues.size(), "queues");
    add(state_->events.size(), "events");
    add(state_->graphs.size(), "graphs");
    add(state_->execs.size(), "instantiated graphs");
    add(std::size_t(state_->context_uses), "uses of the context");
    add(state_->blas_handles.size(), "handles of cuBLAS");
    return all;
}

}  // namespace emulator
