// ThreadPool runs the CPU workers of one engine. run() gives every worker the same function and returns when all are
// done; for_each() gives the pieces of some work to whoever is there. The caller is worker 0. Inside a step idle
// workers spin, so that the next operation starts within a microsecond; between steps they park and cost nothing. One
// owner thread calls everything here.
//
// A step that nobody wants any more ends early: what is left of its pieces is not done, and whoever began it throws
// away what it made. So it ends within a piece, however many rows it has.
//
// A worker that has lost its core to another program is waited for only where it had come already: else the others do
// all without it, so that a busy machine is slower by what it takes, and not by a time slice for every operation.
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
    /// Pinned: each worker stays on a core of its own, as far as there are cores; but for the caller, whose thread has
    /// other work, too. Throws std::system_error where the system gives no more threads.
    explicit ThreadPool(int threads, bool pinned = false);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int size() const { return size_; }
    /// Whether so many multiplications are worth waking the workers for.
    static constexpr std::int64_t kWorthSharing = 1 << 17;
    static bool sharing_pays(std::int64_t products) { return products >= kWorthSharing; }

    /// A step, for as long as it lives.
    class Step
    {
    public:
        /// `given_up` is asked by all workers, before each piece: once it has said yes, it says so to the end.
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

    /// work(worker) on every worker, 0 <= worker < size(). What work throws, for want of memory, is thrown here when
    /// all have ended; of several the first.
    template <class Work>
    void run(const Work& work)
    {
        share([](const void* w, int worker) { (*static_cast<const Work*>(w))(worker); }, &work, Join::All);
    }

    /// work(begin, end, worker) over [0, count) in pieces of `grain`, given to whichever worker is free; those that are
    /// left when the step is given up are not done.
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

    // What is shared at present, as one number that is changed at once: its serial number, whether it is over, so that
    // nobody joins any more, and how many workers have joined and not yet left, and have joined at all.
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
    alignas(64) std::atomic<unsigned> serial_{0};       // what parked workers wait for; follows shared_
    alignas(64) std::atomic<std::uint64_t> shared_{0};  // see Shared
    alignas(64) std::atomic<int> next_{0};              // for_each: the next piece
    std::atomic<bool> failed_{false};
    std::exception_ptr failure_;  // of the first that failed
    std::atomic<bool> in_step_{false};
    std::atomic<bool> quit_{false};
    std::vector<std::thread> threads_;
};

}  // namespace engine
