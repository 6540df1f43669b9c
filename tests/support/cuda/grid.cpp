#include "tests/support/cuda/grid.h"

#include "kernels/cuda/device_on_host.h"
#include "tests/support/cuda/fiber.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <span>
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

/// How far a thread of the block has come.
struct Standing {
    enum class State { Ready, AtBlockBarrier, AtWarpExchange, Ended };

    State state = State::Ended;
    host::Where where;  // of the barrier it waits at
    bool operator==(const Standing&) const = default;
};

/// One thread of the block, and the copies it has under way.
struct Thread {
    Fiber fiber;
    uint3 place{};
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
    void wait(Standing standing);
    Thread& current() { return *current_; }
    Warp& warp() { return warps_[index_ / kWarpLanes]; }
    std::byte* shared() { return shared_.get(); }
    void fault(const std::string& what);

private:
    static void body(void* self);
    bool run_block();
    void run_warp(unsigned w);
    bool take_next_lane();
    bool release_barrier();
    std::string standing() const;
    unsigned random();

    const host::HostKernel* kernel_ = nullptr;
    void** arguments_ = nullptr;
    std::vector<std::unique_ptr<Thread>> threads_;
    std::vector<Standing> standings_;  // of the threads
    std::vector<Warp> warps_;
    std::unique_ptr<std::byte[]> shared_;
    unsigned count_ = 0;  // threads in a block
    Thread* current_ = nullptr;
    unsigned index_ = 0;                              // of current_
    unsigned warp_ = 0, flip_ = 0, lanes_taken_ = 0;  // of the warp that runs, and the order of its lanes
    std::string fault_;
    unsigned random_ = 2463534242u;
};

constinit thread_local Multiprocessor* running = nullptr;  // of this thread

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
    standings_.resize(threads_.size());
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
        standings_[i].state = Standing::State::Ready;
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

// Until every lane has ended or waits for the block. A lane that stops hands over to the next one.
void Multiprocessor::run_warp(unsigned w)
{
    const auto lanes = std::span(standings_).subspan(std::size_t(w) * kWarpLanes, kWarpLanes);
    const auto exchanges = [](const Standing& lane) { return lane.state == Standing::State::AtWarpExchange; };
    warp_ = w;
    for (;;) {
        flip_ = random() % kWarpLanes;
        lanes_taken_ = 0;
        if (take_next_lane())
            current_->fiber.resume();
        if (!fault_.empty() || std::none_of(lanes.begin(), lanes.end(), exchanges))
            return;
        for (const Standing& lane : lanes)
            if (lane != lanes.front())
                return fault("a warp's lanes part ways:" + standing());
        for (Standing& lane : lanes)
            lane.state = Standing::State::Ready;
    }
}

bool Multiprocessor::take_next_lane()
{
    while (lanes_taken_ < kWarpLanes && fault_.empty()) {
        index_ = warp_ * kWarpLanes + (lanes_taken_++ ^ flip_);
        if (standings_[index_].state == Standing::State::Ready) {
            current_ = threads_[index_].get();
            threadIdx = current_->place;
            return true;
        }
    }
    return false;
}

// Whether the block goes on: all its threads wait at one barrier. Otherwise all have ended, or it is at fault.
bool Multiprocessor::release_barrier()
{
    const std::span all = std::span(standings_).first(count_);
    const bool ended = all.front().state == Standing::State::Ended;
    for (const Standing& s : all)
        if (s.state != all.front().state || (!ended && !(s.where == all.front().where))) {
            fault("not all threads come to the barrier:" + standing());
            return false;
        }
    if (ended)
        return false;
    for (Standing& s : all)
        s.state = Standing::State::Ready;
    return true;
}

// Where the threads are: "thread 0 at rms_norm.cu:12, thread 32 has ended, ..."; one for each place.
std::string Multiprocessor::standing() const
{
    std::map<std::string, unsigned> places;
    for (unsigned i = count_; i-- > 0;) {
        const Standing& s = standings_[i];
        const std::string file = s.where.file;
        places[s.state == Standing::State::Ended
                   ? "has ended"
                   : "at " + file.substr(file.rfind('/') + 1) + ":" + std::to_string(s.where.line)] = i;
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
    m.wait({Standing::State::Ended, {}});
}

void Multiprocessor::wait(Standing standing)
{
    standings_[index_] = standing;
    Fiber& here = current_->fiber;
    if (take_next_lane())
        here.switch_to(current_->fiber);
    else
        here.suspend();
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
    thread_local Multiprocessor multiprocessor;
    running = &multiprocessor;
    return multiprocessor.run(kernel, arguments, grid, block, shared_bytes);
}

}  // namespace emulator

// ---- what device_on_host.h declares ----

namespace kernels::cuda::host {

using emulator::running;
using emulator::Standing;
using emulator::Thread;

void register_kernel(HostKernel kernel)
{
    emulator::registry().emplace(kernel.name, kernel);
}

void block_barrier(Where where)
{
    running->wait({Standing::State::AtBlockBarrier, where});
}

// The two places alternate: a lane can be at most one exchange ahead of another that still reads.
const std::byte* warp_exchange(unsigned mask, const void* mine, std::size_t bytes, Where where)
{
    Thread& thread = running->current();
    auto& all = running->warp().brought[thread.exchanges++ % 2];
    if (mask != ~0u || bytes > kExchangeBytes)
        running->fault("an exchange among a part of a warp");
    else if (bytes > 0)
        std::memcpy(all[threadIdx.x % emulator::kWarpLanes], mine, bytes);
    running->wait({Standing::State::AtWarpExchange, where});
    return all[0];
}

std::byte* dynamic_shared()
{
    return running->shared();
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
    running->current().uncommitted.push_back({to, from, bytes});
}

void commit_copies()
{
    Thread& t = running->current();
    t.copies.push_back(std::move(t.uncommitted));
    t.uncommitted.clear();
}

void wait_for_copies(int groups_still_under_way)
{
    auto& groups = running->current().copies;
    while (groups.size() > std::size_t(groups_still_under_way)) {
        for (const emulator::Copy& copy : groups.front())
            std::memcpy(copy.to, copy.from, copy.bytes);
        groups.erase(groups.begin());
    }
}

}  // namespace kernels::cuda::host
