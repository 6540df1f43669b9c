#include "tests/support/cuda/grid.h"

#include "kernels/cuda/device_on_host.h"
#include "tests/support/cuda/multiprocessor.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <map>
#include <mutex>
#include <random>
#include <thread>

namespace host = kernels::cuda::host;

namespace emulator {

namespace {

std::map<std::string, host::HostKernel>& registry()
{
    static std::map<std::string, host::HostKernel> kernels;
    return kernels;
}

/// Returns the seed of the order of blocks and threads in this process.
unsigned seed()
{
    static const unsigned one = [] {
        const char* wanted = std::getenv("SPILLWAY_EMULATOR_SEED");
        const unsigned chosen = wanted ? unsigned(std::strtoul(wanted, nullptr, 10)) : std::random_device{}();
        std::fprintf(stderr, "emulated GPU: blocks and threads in the order of SPILLWAY_EMULATOR_SEED=%u\n", chosen);
        return chosen;
    }();
    return one;
}

/// The blocks of one launch, which threads take until none is left.
class Blocks
{
public:
    Blocks(const Launch& launch, unsigned order_seed)
        : launch_(launch)
        , order_(std::size_t(launch.grid.x) * launch.grid.y * launch.grid.z)
    {
        for (std::size_t i = 0; i < order_.size(); ++i)
            order_[i] = std::uint32_t(i);
        std::shuffle(order_.begin(), order_.end(), std::minstd_rand(order_seed));
    }

    bool any_left() const { return next_.load() < order_.size(); }

    void run_some()
    {
        Multiprocessor& here = Multiprocessor::of_this_thread();
        here.begin(launch_);
        for (;;) {
            const std::size_t taken = next_++;
            if (taken >= order_.size())
                return;
            const unsigned i = order_[taken];
            const GridDim& grid = launch_.grid;
            const std::string fault = here.run_block({i % grid.x, i / grid.x % grid.y, i / grid.x / grid.y});
            stops_ += here.stops();
            if (fault.empty())
                continue;
            next_ = order_.size();
            const std::lock_guard lock(mutex_);
            if (fault_.empty())
                fault_ = fault;
        }
    }

    /// May be asked when no thread runs a block any more.
    GridRun result() const { return {fault_, stops_}; }

private:
    Launch launch_;
    std::vector<std::uint32_t> order_;
    std::atomic<std::size_t> next_ = 0;
    std::atomic<std::uint64_t> stops_ = 0;
    std::mutex mutex_;
    std::string fault_;
};

/// Threads that take part in all launches, whoever launches.
class Helpers
{
public:
    static Helpers& all()
    {
        static Helpers one;
        return one;
    }

    void run(Blocks& blocks)
    {
        std::unique_lock lock(mutex_);
        const auto here = work_.insert(work_.end(), {&blocks, 0});
        lock.unlock();
        begun_.notify_all();
        blocks.run_some();
        lock.lock();
        ended_.wait(lock, [&] { return here->busy == 0; });
        work_.erase(here);
    }

private:
    struct Work {
        Blocks* blocks;
        int busy;  // helpers
    };

    Helpers()
    {
        const unsigned count = std::clamp(std::thread::hardware_concurrency(), 2u, 4u) - 1;
        for (unsigned i = 0; i < count; ++i)
            threads_.emplace_back([this] { help(); });
    }
    ~Helpers()
    {
        {
            const std::lock_guard lock(mutex_);
            closing_ = true;
        }
        begun_.notify_all();
        for (std::thread& thread : threads_)
            thread.join();
    }

    void help()
    {
        std::unique_lock lock(mutex_);
        for (;;) {
            auto work = work_.end();
            begun_.wait(lock, [&] {
                work = std::find_if(work_.begin(), work_.end(), [](const Work& w) { return w.blocks->any_left(); });
                return closing_ || work != work_.end();
            });
            if (closing_)
                return;
            ++work->busy;
            lock.unlock();
            work->blocks->run_some();
            lock.lock();
            if (--work->busy == 0)
                ended_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable begun_, ended_;
    std::list<Work> work_;
    std::vector<std::thread> threads_;
    bool closing_ = false;
};

/// Keeps the multiprocessors of threads that have ended. To make one, with a thousand stacks, costs more than many
/// launches.
struct Idle {
    std::mutex mutex;
    std::vector<std::unique_ptr<Multiprocessor>> all;
    unsigned made = 0;
};

Idle& idle()
{
    static Idle& one = *new Idle;  // for threads that go after everything else
    return one;
}

/// Holds the multiprocessor of a thread, for as long as the thread lives.
class Lease
{
public:
    Lease()
    {
        const std::lock_guard lock(idle().mutex);
        if (idle().all.empty()) {
            one_ = std::make_unique<Multiprocessor>(seed() + 7919 * idle().made++);
        } else {
            one_ = std::move(idle().all.back());
            idle().all.pop_back();
            one_->move_to_this_thread();
        }
    }
    ~Lease()
    {
        const std::lock_guard lock(idle().mutex);
        idle().all.push_back(std::move(one_));
    }
    Multiprocessor& one() { return *one_; }

private:
    std::unique_ptr<Multiprocessor> one_;
};

}  // namespace

Multiprocessor& Multiprocessor::of_this_thread()
{
    thread_local Lease lease;
    return lease.one();
}

const host::HostKernel* find_kernel(const std::string& name)
{
    const auto found = registry().find(name);
    return found == registry().end() ? nullptr : &found->second;
}

GridRun run_grid(const host::HostKernel& kernel, void** arguments, GridDim grid, GridDim block,
                 std::size_t shared_bytes)
{
    static std::atomic<unsigned> launches = 0;
    const unsigned threads = block.x * block.y * block.z;
    if (threads == 0 || threads > kMostThreads || threads % kWarpLanes != 0)
        return {std::string(kernel.name) + ": a block of " + std::to_string(threads) + " threads"};
    if (shared_bytes > kMostSharedBytes)
        return {std::string(kernel.name) + ": " + std::to_string(shared_bytes) + " bytes of shared memory"};
    Blocks blocks({kernel, arguments, grid, block, shared_bytes}, seed() + launches++);
    if (grid.x * grid.y * grid.z == 1)
        blocks.run_some();
    else
        Helpers::all().run(blocks);
    return blocks.result();
}

}  // namespace emulator

void kernels::cuda::host::register_kernel(HostKernel kernel)
{
    emulator::registry().emplace(kernel.name, kernel);
}
