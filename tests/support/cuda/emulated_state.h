// Holds what the parts of the emulated driver share: what its handles stand for, the state of the GPU, and how a call
// begins. All of it is guarded by the state's mutex.
#pragma once

#include "kernels/cuda/blas.h"
#include "kernels/cuda/device_on_host.h"
#include "tests/support/cuda/emulated_gpu.h"

#include <algorithm>
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

namespace emulator {

using namespace kernels::cuda;

/// A point in a queue that others wait for.
struct Moment {
    bool reached = false;
    std::chrono::steady_clock::time_point time{};
};

using Task = std::function<void()>;

struct GivenTask {
    Task task;
    std::chrono::steady_clock::time_point not_before{};
};

/// Holds what a queue, and those that joined it, record instead of doing.
struct Capture {
    Queue origin = nullptr;
    std::thread::id thread;  // that began it
    std::vector<Task> tasks;
    bool invalid = false;
};

}  // namespace emulator

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
    std::shared_ptr<emulator::Moment> moment =
        std::make_shared<emulator::Moment>(emulator::Moment{true});  // an event never recorded has happened
    std::shared_ptr<emulator::Capture> capture;
};
struct GraphTag {
    std::vector<emulator::Task> tasks;
};
struct GraphExecTag {
    std::shared_ptr<std::vector<emulator::Task>> tasks;
};
struct QueueTag {
    std::deque<emulator::GivenTask> tasks;
    std::size_t submitted = 0;  // of them: the others wait until somebody asks
    bool busy = false;
    bool closing = false;
    std::shared_ptr<emulator::Capture> capture;
    std::thread thread;
};

}  // namespace kernels::cuda

namespace emulator {

constexpr Status kInvalidHandle{400};
constexpr Status kWrongThread{908};

struct FreeAligned {
    void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{256}); }
};

struct Allocation {
    std::unique_ptr<std::byte[], FreeAligned> memory;
    std::size_t bytes;
    std::size_t taken_bytes = 0;  // of the device's memory
};

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
    std::map<std::uintptr_t, std::size_t> registered;  // memory of the host's own that was page-locked: bytes
    std::map<std::thread::id, MemoryCalls> memory_calls;
    bool refuses_page_locks = false;
    bool waits_for_all = false;  // one call does; no other one goes on until it has
    std::chrono::microseconds page_lock_delay{0};
    std::size_t used = 0, peak = 0, held = 0;
    std::set<Module> modules;
    std::map<std::string, FunctionTag> functions;
    std::set<Queue> queues;
    std::set<Event> events;
    std::set<Graph> graphs;
    std::set<GraphExec> execs;
    std::string fault;
    int kernels_run = 0;
    std::uint64_t longest_launch = 0;  // in stops of its warps
    int graphs_made = 0;
    int copies_recorded = 0;
    std::set<BlasHandle> blas_handles;
    int blas_calls = 0, blas_fails_at = 0, blas_products = 0;
    std::size_t peak_spilled = 0;

    std::size_t spilled() const
    {
        const std::size_t left = facts.memory_bytes - std::min(held, facts.memory_bytes);
        return used - std::min(used, left);
    }
};

extern EmulatedGpu::State* gpu;                         // the machine's, or null
extern constinit thread_local Context current_context;  // of the calling thread

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
        gpu->changed.wait(lock, [] { return !gpu->waits_for_all; });
        ++gpu->calls;
        if (gpu->lost != Status::Ok && needs == Needs::Context) {  // what asks no context goes on
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
    /// Waits until all that was given is done, or the device is lost. Does nothing where memory calls do not wait.
    void wait_for_all();
};

/// Says whether this many bytes from there on belong to one allocation of the device's.
bool on_device(DevicePtr at, std::size_t bytes);

// ---- queues ----

/// Says whether the device is lost; for tasks, which run without the mutex.
bool lost();
/// Lets the queue do the task after what it has, or record it where it captures.
Status enqueue(Queue queue, Task task);
bool idle(Queue queue);
/// Makes the thread's capture useless, where there is one: the thread called what it may not call while it captures.
bool spoils_capture();
/// Lets queues begin what was collected: the program asks, or waits.
void submit(Queue queue);
void submit_all();
MemoryCalls& calls_of_this_thread();
/// Ends the queue's thread, once it has done what is queued.
void close(Queue queue, Lock& lock);

// ---- each part's functions of the table ----

void add_device_functions(DriverTable& table);
void add_memory_functions(DriverTable& table);
void add_queue_functions(DriverTable& table);

}  // namespace emulator
