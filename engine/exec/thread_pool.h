// CPU workers of one engine. run() gives every worker the same function and returns when all are done; the caller is
// worker 0. Inside a step (begin_step .. end_step) idle workers spin, so that the next operation starts within a
// microsecond; between steps they park and cost nothing. One owner thread calls everything here.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace engine {

class ThreadPool
{
public:
    /// Throws std::system_error where the system gives no more threads.
    explicit ThreadPool(int threads);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int size() const { return size_; }

    void begin_step() { in_step_.store(true, std::memory_order_relaxed); }
    bool in_step() const { return in_step_.load(std::memory_order_relaxed); }
    void end_step() { in_step_.store(false, std::memory_order_relaxed); }

    /// work(worker) on every worker, 0 <= worker < size().
    template <class Work>
    void run(const Work& work)
    {
        run_raw([](const void* w, int worker) { (*static_cast<const Work*>(w))(worker); }, &work);
    }

    /// work(begin, end, worker) over [0, count) in pieces of `grain`, given to whichever worker is free.
    template <class Work>
    void for_each(int count, int grain, const Work& work)
    {
        if (size_ == 1 || count <= grain) {
            if (count > 0)
                work(0, count, 0);
            return;
        }
        next_.store(0, std::memory_order_relaxed);
        run([&](int worker) {
            for (int begin; (begin = next_.fetch_add(grain, std::memory_order_relaxed)) < count;)
                work(begin, std::min(begin + grain, count), worker);
        });
    }

private:
    using RawWork = void (*)(const void*, int);
    void join();
    void run_raw(RawWork work, const void* context);
    void worker_loop(int worker);
    unsigned wait_for_work(unsigned seen) const;

    int size_;
    RawWork work_ = nullptr;
    const void* context_ = nullptr;
    alignas(64) std::atomic<unsigned> epoch_{0};  // counts run() calls
    alignas(64) std::atomic<int> pending_{0};     // workers still busy with the present one
    alignas(64) std::atomic<int> next_{0};        // for_each: the next piece
    std::atomic<bool> in_step_{false};
    std::atomic<bool> quit_{false};
    std::vector<std::thread> threads_;
};

}  // namespace engine
