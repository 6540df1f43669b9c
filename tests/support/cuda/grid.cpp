#include "tests/support/cuda/grid.h"

#include "kernels/cuda/device_on_host.h"
#include "tests/support/cuda/fiber.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <thread>

namespace host = kernels::cuda::host;

constinit thread_local uint3 threadIdx{};
constinit thread_local uint3 blockIdx{};
constinit thread_local uint3 blockDim{};
constinit thread_local uint3 gridDim{};

namespace emulator {

namespace {

constexpr unsigned kWarpLanes = 32;
constexpr unsigned kMostThreads = 1024;
constexpr std::size_t kMostSharedBytes = 48 << 10;  // what a launch may ask for without further ado

struct Copy {
    void* to;
    const void* from;
    std::size_t bytes;
};

/// One thread of the block: where it stands, and the copies it has under way.
struct Thread {
    enum class State { Ready, AtBlockBarrier, AtWarpExchange, Ended };

    Fiber fiber;
    uint3 place{};
    State state = State::Ended;
    host::Where where;       // of the barrier it waits at
    unsigned exchanges = 0;  // done so far: they alternate between two places
    std::vector<std::vector<Copy>> copies;
    std::vector<Copy> uncommitted;
};

struct Warp {
    alignas(64) std::byte brought[2][kWarpLanes][host::kExchangeBytes];
};

std::string text(uint3 p)
{
    return "(" + std::to_string(p.x) + ", " + std::to_string(p.y) + ", " + std::to_string(p.z) + ")";
}

/// The blocks that one thread of the host runs; its fibers are kept from launch to launch.
class Multiprocessor
{
public:
    std::string run(const host::HostKernel& kernel, void** arguments, GridDim grid, GridDim block,
                    std::size_t shared_bytes);

    // From the running fiber.
    void wait(Thread::State state, host::Where where);
    Thread& current() { return *current_; }
    Warp& warp() { return warps_[index_ / kWarpLanes]; }
    std::byte* shared() { return shared_.get(); }
    void fault(const std::string& what);

private:
    static void body(void* self);
    bool run_block();
    void run_warp(unsigned w);
    void resume(unsigned index);
    bool release_barrier();
    std::string standing() const;
    unsigned random();

    const host::HostKernel* kernel_ = nullptr;
    void** arguments_ = nullptr;
    std::vector<std::unique_ptr<Thread>> threads_;
    std::vector<Warp> warps_;
    std::unique_ptr<std::byte[]> shared_;
    unsigned count_ = 0;  // threads in a block
    Thread* current_ = nullptr;
    unsigned index_ = 0;  // of current_
    std::string fault_;
    unsigned random_ = 2463534242u;
};

thread_local Multiprocessor multiprocessor;

unsigned Multiprocessor::random()
{
    random_ ^= random_ << 13;
    random_ ^= random_ >> 17;
    random_ ^= random_ << 5;
    return random_;
}

std::string Multiprocessor::run(const host::HostKernel& kernel, void** arguments, GridDim grid, GridDim block,
                                std::size_t shared_bytes)
{
    count_ = block.x * block.y * block.z;
    if (count_ == 0 || count_ > kMostThreads || count_ % kWarpLanes != 0)
        return std::string(kernel.name) + ": a block of " + std::to_string(count_) + " threads";
    if (shared_bytes > kMostSharedBytes)
        return std::string(kernel.name) + ": " + std::to_string(shared_bytes) + " bytes of shared memory";

    kernel_ = &kernel;
    arguments_ = arguments;
    fault_.clear();
    while (threads_.size() < count_)
        threads_.push_back(std::make_unique<Thread>());
    warps_.resize(std::max(warps_.size(), std::size_t(count_ / kWarpLanes)));
    blockDim = {block.x, block.y, block.z};
    gridDim = {grid.x, grid.y, grid.z};

    for (blockIdx.z = 0; blockIdx.z < grid.z; ++blockIdx.z)
        for (blockIdx.y = 0; blockIdx.y < grid.y; ++blockIdx.y)
            for (blockIdx.x = 0; blockIdx.x < grid.x; ++blockIdx.x) {
                shared_.reset(new std::byte[shared_bytes]);  // its exact size, so that ASan sees what goes beyond
                std::fill_n(shared_.get(), shared_bytes, std::byte(0xff));
                if (!run_block())
                    return std::string(kernel.name) + ", block " + text(blockIdx) + ": " + fault_;
            }
    return {};
}

bool Multiprocessor::run_block()
{
    for (unsigned i = 0; i < count_; ++i) {
        Thread& t = *threads_[i];
        t.place = {i % blockDim.x, i / blockDim.x % blockDim.y, i / blockDim.x / blockDim.y};
        t.state = Thread::State::Ready;
        t.exchanges = 0;
        t.copies.clear();
        t.uncommitted.clear();
        t.fiber.start(body, this);
    }
    const unsigned warps = std::max(1u, count_ / kWarpLanes);
    do {
        const unsigned first = random() % warps;
        for (unsigned w = 0; w < warps && fault_.empty(); ++w)
            run_warp((first + w) % warps);
    } while (fault_.empty() && release_barrier());
    return fault_.empty();
}

// Until every lane has ended or waits for the block.
void Multiprocessor::run_warp(unsigned w)
{
    const auto thread = [&](unsigned l) -> Thread& { return *threads_[w * kWarpLanes + l]; };
    for (;;) {
        const unsigned flip = random() % kWarpLanes;
        unsigned waiting = 0;
        for (unsigned l = 0; l < kWarpLanes && fault_.empty(); ++l) {
            const unsigned at = l ^ flip;
            if (thread(at).state == Thread::State::Ready)
                resume(w * kWarpLanes + at);
            waiting += thread(at).state == Thread::State::AtWarpExchange;
        }
        if (waiting == 0 || !fault_.empty())
            return;
        const host::Where& where = thread(0).where;
        for (unsigned l = 0; l < kWarpLanes; ++l)
            if (waiting != kWarpLanes || !(thread(l).where == where))
                return fault("a warp's lanes part ways:" + standing());
        for (unsigned l = 0; l < kWarpLanes; ++l)
            thread(l).state = Thread::State::Ready;
    }
}

void Multiprocessor::resume(unsigned index)
{
    current_ = threads_[index].get();
    index_ = index;
    threadIdx = current_->place;
    current_->fiber.resume();
}

// Whether the block goes on: all its threads wait at one barrier. Otherwise all have ended, or it is at fault.
bool Multiprocessor::release_barrier()
{
    const Thread& first = *threads_[0];
    for (unsigned i = 0; i < count_; ++i) {
        const Thread& t = *threads_[i];
        if (t.state != first.state || (t.state == Thread::State::AtBlockBarrier && !(t.where == first.where))) {
            fault("not all threads come to the barrier:" + standing());
            return false;
        }
    }
    if (first.state == Thread::State::Ended)
        return false;
    for (unsigned i = 0; i < count_; ++i)
        threads_[i]->state = Thread::State::Ready;
    return true;
}

// Where the threads are: "thread 0 at rms_norm.cu:12, thread 32 has ended, ..."; one for each place.
std::string Multiprocessor::standing() const
{
    std::map<std::string, unsigned> places;
    for (unsigned i = count_; i-- > 0;) {
        const Thread& t = *threads_[i];
        const std::string file = t.where.file;
        places[t.state == Thread::State::Ended
                   ? "has ended"
                   : "at " + file.substr(file.rfind('/') + 1) + ":" + std::to_string(t.where.line)] = i;
    }
    std::string all;
    for (const auto& [place, thread] : places)
        all += " thread " + std::to_string(thread) + " " + place + ";";
    return all;
}

void Multiprocessor::body(void* self)
{
    auto& m = *static_cast<Multiprocessor*>(self);
    m.kernel_->call(m.kernel_->function, m.arguments_);
    m.current_->state = Thread::State::Ended;
    m.current_->fiber.finish();
}

void Multiprocessor::wait(Thread::State state, host::Where where)
{
    current_->state = state;
    current_->where = where;
    current_->fiber.suspend();
}

void Multiprocessor::fault(const std::string& what)
{
    if (fault_.empty())
        fault_ = what;
}

std::map<std::string, host::HostKernel>& registry()
{
    static std::map<std::string, host::HostKernel> kernels;
    return kernels;
}

}  // namespace

const host::HostKernel* find_kernel(const std::string& name)
{
    const auto found = registry().find(name);
    return found == registry().end() ? nullptr : &found->second;
}

std::string run_grid(const host::HostKernel& kernel, void** arguments, GridDim grid, GridDim block,
                     std::size_t shared_bytes)
{
    return multiprocessor.run(kernel, arguments, grid, block, shared_bytes);
}

}  // namespace emulator

// ---- what device_on_host.h declares ----

namespace kernels::cuda::host {

using emulator::multiprocessor;
using emulator::Thread;

void register_kernel(HostKernel kernel)
{
    emulator::registry().emplace(kernel.name, kernel);
}

void block_barrier(Where where)
{
    multiprocessor.wait(Thread::State::AtBlockBarrier, where);
}

// The two places alternate: a lane can be at most one exchange ahead of another that still reads.
const std::byte* warp_exchange(unsigned mask, const void* mine, std::size_t bytes, Where where)
{
    Thread& thread = multiprocessor.current();
    auto& all = multiprocessor.warp().brought[thread.exchanges++ % 2];
    if (mask != ~0u || bytes > kExchangeBytes)
        multiprocessor.fault("an exchange among a part of a warp");
    else if (bytes > 0)
        std::memcpy(all[threadIdx.x % emulator::kWarpLanes], mine, bytes);
    multiprocessor.wait(Thread::State::AtWarpExchange, where);
    return all[0];
}

std::byte* dynamic_shared()
{
    return multiprocessor.shared();
}

std::uint64_t now_ns()
{
    return std::uint64_t(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

void yield()
{
    std::this_thread::yield();
}

void copy_async(void* to, const void* from, std::size_t bytes)
{
    multiprocessor.current().uncommitted.push_back({to, from, bytes});
}

void commit_copies()
{
    Thread& t = multiprocessor.current();
    t.copies.push_back(std::move(t.uncommitted));
    t.uncommitted.clear();
}

void wait_for_copies(int groups_still_under_way)
{
    auto& groups = multiprocessor.current().copies;
    while (groups.size() > std::size_t(groups_still_under_way)) {
        for (const emulator::Copy& copy : groups.front())
            std::memcpy(copy.to, copy.from, copy.bytes);
        groups.erase(groups.begin());
    }
}

}  // namespace kernels::cuda::host
