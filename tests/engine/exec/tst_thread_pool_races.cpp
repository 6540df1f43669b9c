// Tests that what one worker of the pool writes is there for the next, under ThreadSanitizer, which sees a missing
// order of memory on any processor. It ends the program with an error where two threads touch the same numbers with
// nothing between them.
#include "engine/exec/thread_pool.h"
#include "engine/metrics/host_probe.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

// The pool calls these only where its workers are to stay on their cores. The real functions need half of the engine.
namespace engine {

std::vector<int> core_cpus()
{
    return {};
}

bool pin_this_thread(int)
{
    return false;
}

}  // namespace engine

namespace {

constexpr int kThreads = 3, kNumbers = 2, kParked = 50, kSpinning = 60'000;

/// Says whether each round sees the numbers of the one before. They are read and written without a lock: only the pool
/// keeps the threads apart.
bool every_round_sees_the_last(engine::ThreadPool& pool, int rounds)
{
    std::vector<std::int64_t> given(kNumbers), made(kNumbers);
    std::vector<int> ran(kThreads);
    for (int round = 1; round <= rounds; ++round) {
        std::fill(given.begin(), given.end(), round);
        // run() is called seldom, since it waits for all workers, and one that was waited for is never late for the
        // next round.
        if (round % 64 == 0)
            pool.run([&](int worker) { ++ran[std::size_t(worker)]; });
        pool.for_each(kNumbers, 1, [&](int begin, int end, int) {
            for (int i = begin; i < end; ++i)
                made[std::size_t(i)] += given[std::size_t(i)];
        });
        const std::int64_t sum = std::int64_t(round) * (round + 1) / 2;
        if (std::accumulate(made.begin(), made.end(), std::int64_t(0)) != kNumbers * sum)
            return false;
    }
    return std::accumulate(ran.begin(), ran.end(), 0) == kThreads * (rounds / 64);
}

}  // namespace

int main()
{
    engine::ThreadPool pool(kThreads);
    bool right = every_round_sees_the_last(pool, kParked);
    const engine::ThreadPool::Step step(pool);
    right = right && every_round_sees_the_last(pool, kSpinning);
    if (!right)
        std::fputs("numbers are missing\n", stderr);
    return right ? 0 : 1;
}
