// ThreadPool runs the CPU workers of one engine. run() gives every worker the same function and returns when all are
// done; for_each() divides work into pieces, each of which goes to a worker that is free. The caller is worker 0.
// Inside a step idle workers spin, so that the next operation starts within a microsecond; between steps they park and
// cost nothing. One owner thread calls everything here.
//
// A step that nobody needs any more ends early: the rest of its pieces is not done, and whoever began the step throws
// its results away. So it ends within one piece, however many rows it has.
//
// A worker that has lost its core to another program is waited for only where it has already taken part in the work;
// else the others do all of it. A busy machine is then slower by what the other program takes, and not by a time slice
// for every operation.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace engine {

class ThreadPool
{
public:
    /// pinned: each worker stays on a core of its own, as far as there are cores; not so the caller, whose thread has
    /// other work, too. Throws std::system_error where the system gives no more threads.
    explicit ThreadPool(int threads, bool pinned = false);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int size() const { return size_; }
    /// Says whether this many multiplications are worth waking the workers for.
    static constexpr std::int64_t kWorthSharing = 1 << 17;
    static bool sharing_pays(std::int64_t products) { return products >= kWorthSharing; }

    /// A step lasts as long as the object lives.
    class Step
    {
    public:
        /// All workers call `given_up` before each piece: once it has returned true, it returns true to the end of the
        /// step.
        explicit Step(ThreadPool& pool, std::function<bool()> given_up = {})
            : pool_(pool)
        {
            pool_.given_up_ = std::move(given_up);
            pool_.in_step_.store(true, std::memory_order_relaxed);
        }
        ~Step()
        {
            pool_.in_step_.store(false, std::memory_order_relaxed);
            pool_.given_up_ = {};
        }
        Step(const Step&) = delete;
        Step& operator=(const Step&) = delete;

    private:
        ThreadPool& pool_;
    };
    bool in_step() const { return in_step_.load(std::memory_order_relaxed); }
    /// Says whether pieces of this step are left out from now on.
    bool given_up() const { return given_up_ && given_up_(); }

    /// Calls work(worker) on every worker, 0 <= worker < size(). What work throws, for want of memory, is thrown here
    /// when all have ended; where several throw, what the first threw.
    template <class Work>
    void run(const Work& work)
    {
        share([](const void* w, int worker) { (*static_cast<const Work*>(w))(worker); }, &work, Join::All);
    }

    /// Calls work(begin, end, worker) over [0, count) in pieces of `grain`, each on whichever worker is free; pieces
    /// that are left when the step is given up are not done.
    template <class Work>
    void for_each(int count, int grain, const Work& work)
    {
        if (count <= grain || (size_ == 1 && !given_up_)) {
            if (count > 0 && !given_up())
                work(0, count, 0);
            return;
        }
        next_.store(0, std::memory_order_relaxed);
        const auto take_pieces = [&](int worker) {
            for (int begin; !given_up() && (begin = next_.fetch_add(grain, std::memory_order_relaxed)) < count;)
                work(begin, std::min(begin + grain, count), worker);
        };
        share([](const void* w, int worker) { (*static_cast<const decltype(take_pieces)*>(w))(worker); }, &take_pieces,
              Join::WhoeverComes);
    }

private:
    using RawWork = void (*)(const void*, int);
    enum class Join { All, WhoeverComes };

    // The state of the work that is shared now, as one number that changes at once: its serial number, whether it is
    // over, so that no worker joins any more, how many workers have joined and not yet left, and how many have joined
    // in all.
    struct Shared {
        static constexpr std::uint64_t kInside = 1, kJoined = 1 << 16, kOver = std::uint64_t(1) << 31;
        static constexpr std::uint64_t opened(unsigned serial) { return std::uint64_t(serial) << 32; }
        static unsigned serial(std::uint64_t state) { return unsigned(state >> 32); }
        static bool over(std::uint64_t state) { return (state & kOver) != 0; }
        static int inside(std::uint64_t state) { return int(state & 0xffff); }
        static int joined(std::uint64_t state) { return int(state >> 16 & 0x7fff); }
    };

    void join_threads();
    void share(RawWork work, const void* context, Join join);
    void do_work(int worker);
    void worker_loop(int worker);
    void wait_for_news(unsigned seen) const;

    int size_;
    std::function<bool()> given_up_;  // of the step; changed between pieces of work only
    RawWork work_ = nullptr;
    const void* context_ = nullptr;
    alignas(64) std::atomic<unsigned> serial_{0};       // parked workers wait for it to change; follows shared_
    alignas(64) std::atomic<std::uint64_t> shared_{0};  // see Shared
    alignas(64) std::atomic<int> next_{0};              // for_each: the next piece
    std::atomic<bool> failed_{false};
    std::exception_ptr failure_;  // of the first that failed
    std::atomic<bool> in_step_{false};
    std::atomic<bool> quit_{false};
    std::vector<std::thread> threads_;
};

}  // namespace engine
