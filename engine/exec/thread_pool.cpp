#include "engine/exec/thread_pool.h"

namespace engine {

// Spins before a waiting thread lets others run: some tens of microseconds, longer than any gap between operations.
static constexpr int kSpins = 1 << 14;

static void pause_cpu()
{
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
}

ThreadPool::ThreadPool(int threads)
    : size_(std::max(1, threads))
{
    try {
        for (int worker = 1; worker < size_; ++worker)
            threads_.emplace_back([this, worker] { worker_loop(worker); });
    } catch (...) {  // the system gives no more threads
        join();
        throw;
    }
}

ThreadPool::~ThreadPool()
{
    join();
}

void ThreadPool::join()
{
    quit_.store(true, std::memory_order_relaxed);
    epoch_.fetch_add(1, std::memory_order_release);
    epoch_.notify_all();
    for (std::thread& thread : threads_)
        thread.join();
}

void ThreadPool::run_raw(RawWork work, const void* context)
{
    if (size_ == 1) {
        work(context, 0);
        return;
    }
    work_ = work;
    context_ = context;
    pending_.store(size_ - 1, std::memory_order_relaxed);
    epoch_.fetch_add(1, std::memory_order_release);
    epoch_.notify_all();  // a load when nobody is parked

    work(context, 0);
    for (int spins = 0; pending_.load(std::memory_order_acquire) != 0; ++spins) {
        if (spins < kSpins)
            pause_cpu();
        else
            std::this_thread::yield();  // a worker lost its core to another program
    }
}

unsigned ThreadPool::wait_for_work(unsigned seen) const
{
    for (int spins = 0;; ++spins) {
        const unsigned epoch = epoch_.load(std::memory_order_acquire);
        if (epoch != seen)
            return epoch;
        if (spins < kSpins)
            pause_cpu();
        else if (in_step_.load(std::memory_order_relaxed))
            std::this_thread::yield();
        else
            epoch_.wait(seen, std::memory_order_acquire);
    }
}

void ThreadPool::worker_loop(int worker)
{
    unsigned seen = 0;
    for (;;) {
        seen = wait_for_work(seen);
        if (quit_.load(std::memory_order_relaxed))
            return;
        work_(context_, worker);
        pending_.fetch_sub(1, std::memory_order_release);
    }
}

}  // namespace engine
