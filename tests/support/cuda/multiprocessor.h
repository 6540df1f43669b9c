// Runs blocks of a kernel, one after the other, on the thread that calls it: threads as fibers with barriers, warps
// that exchange values, shared memory. Within a block the order of the threads is shuffled, so that a barrier that is
// missing shows.
#pragma once

#include "kernels/cuda/device_on_host.h"
#include "tests/support/cuda/fiber.h"
#include "tests/support/cuda/grid.h"
#include "tests/support/cuda/static_shared.h"

#include <memory>
#include <string>
#include <vector>

namespace emulator {

constexpr unsigned kWarpLanes = 32;
constexpr unsigned kMostThreads = 1024;
constexpr std::size_t kMostSharedBytes = 48 << 10;  // what a launch may ask for without further ado

struct Copy {
    void* to;
    const void* from;
    std::size_t bytes;
};

/// Says where a thread of the block stopped last.
struct Standing {
    enum class State { AtBlockBarrier, AtWarpExchange, Ended };

    State state = State::Ended;
    kernels::cuda::host::Where where;  // of the barrier it waits at
    bool operator==(const Standing&) const = default;
};

/// One thread of the block, and the copies it has under way.
struct Thread {
    Fiber fiber;
    uint3 place{};
    std::vector<Copy> copies;         // those that have not arrived, in their order
    std::vector<std::size_t> groups;  // that were committed: how many copies each has
    std::size_t uncommitted = 0;      // the last ones of `copies`
};

/// Holds what is launched. The arguments may be read by several threads.
struct Launch {
    const kernels::cuda::host::HostKernel& kernel;
    void** arguments;
    GridDim grid, block;
    std::size_t shared_bytes;
};

/// One for each thread of the host; its fibers are kept from launch to launch, and for the threads after it.
class Multiprocessor
{
public:
    explicit Multiprocessor(unsigned seed);

    /// The calling thread's.
    static Multiprocessor& of_this_thread();
    /// Takes it over from another thread, which is gone with its variables.
    void move_to_this_thread() { static_shared_ = StaticShared(); }

    void begin(const Launch& launch);
    /// Empty, or what the block did that no GPU would take.
    std::string run_block(uint3 block);
    /// Returns how often that block's warps stopped, at barriers and to exchange values.
    std::uint64_t stops() const { return stops_; }

    // From the running fiber.
    void wait(Standing standing);
    Thread& current() { return *current_; }
    /// What the lanes of the warp that runs bring to their next exchange.
    std::byte* brought() { return brought_[exchanges_ % 2]; }
    std::byte* shared() { return shared_.get(); }
    void fault(const std::string& what);
    /// After a fault that this thread of the block cannot go on from. What is on its stack is left as it is.
    [[noreturn]] void end_here();

private:
    static void body(void* self);
    void run_threads();
    void run_warp(unsigned w);
    void begin_round();
    void take_next_lane();
    bool finish_round();
    bool release_barrier();
    std::string standing() const;
    unsigned random();

    const kernels::cuda::host::HostKernel* kernel_ = nullptr;
    void** arguments_ = nullptr;
    std::vector<std::unique_ptr<Thread>> threads_;
    std::vector<Standing> standings_;  // of the threads
    // The exchanges of the warp that runs alternate between two places: a lane can be at most one ahead of another that
    // still reads.
    alignas(64) std::byte brought_[2][kWarpLanes * kernels::cuda::host::kExchangeBytes];
    unsigned exchanges_ = 0;
    std::uint64_t stops_ = 0;
    std::unique_ptr<std::byte[]> shared_;
    std::size_t shared_bytes_ = 0;
    StaticShared static_shared_;
    unsigned count_ = 0;  // threads in a block
    Thread* current_ = nullptr;
    unsigned index_ = 0;  // of current_
    // Of the warp that runs: in a round each lane runs once, until it stops.
    unsigned warp_ = 0, flip_ = 0, lanes_taken_ = 0;
    const Standing* first_ = nullptr;  // of the round's lanes
    bool parted_ = false;              // a lane stopped elsewhere than the first
    std::string fault_;
    unsigned random_;
};

}  // namespace emulator
