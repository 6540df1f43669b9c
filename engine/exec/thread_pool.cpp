#include "engine/exec/thread_pool.h"

#include "engine/metrics/host_probe.h"

#include <utility>

namespace engine {

// A waiting thread spins for some tens of microseconds, longer than any gap between operations. Then it yields between
// looks, for about half a millisecond, longer than any gap between steps, before it parks.
static constexpr int kSpinsBeforeYielding = 1 << 10, kSpinsBeforeParking = 1 << 11;

static void pause_cpu()
{
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
}

ThreadPool::ThreadPool(int threads, bool pinned)
    : size_(std::max(1, threads))
{
    const std::vector<int> cpus = pinned ? core_cpus() : std::vector<int>();
    try {
        for (int worker = 1; worker < size_; ++worker)
            threads_.emplace_back([this, worker, cpu = worker < int(cpus.size()) ? cpus[std::size_t(worker)] : -1] {
                if (cpu >= 0)
                    (void)pin_this_thread(cpu);  // where that is not allowed, it runs anywhere
                worker_loop(worker);
            });
    } catch (...) {  // the system gives no more threads
        join_threads();
        throw;
    }
}

ThreadPool::~ThreadPool()
{
    join_threads();
}

void ThreadPool::join_threads()
{
    quit_.store(true, std::memory_order_relaxed);
    serial_.fetch_add(1, std::memory_order_release);
    serial_.notify_all();
    for (std::thread& thread : threads_)
        thread.join();
}

void ThreadPool::share(RawWork work, const void* context, Join join)
{
    if (size_ == 1) {
        work(context, 0);
        return;
    }
    work_ = work;
    context_ = context;
    const unsigned serial = serial_.load(std::memory_order_relaxed) + 1;
    shared_.store(Shared::opened(serial), std::memory_order_release);
    // Changed before the waiters are looked for: a worker that is about to park sees the new number, or is seen and
    // woken.
    serial_.exchange(serial, std::memory_order_seq_cst);
    serial_.notify_all();  // only a load when nobody is parked

    do_work(0);
    const auto wait_until = [&](const auto& done) {
        for (int spins = 0; !done(shared_.load(std::memory_order_acquire)); ++spins) {
            if (spins < kSpinsBeforeYielding)
                pause_cpu();
            else
                std::this_thread::yield();  // a worker has lost its core to another program
        }
    };
    if (join == Join::All)
        wait_until([&](std::uint64_t state) { return Shared::joined(state) == size_ - 1; });
    shared_.fetch_or(Shared::kOver, std::memory_order_relaxed);
    wait_until([](std::uint64_t state) { return Shared::inside(state) == 0; });
    if (failed_.load(std::memory_order_relaxed)) {
        failed_.store(false, std::memory_order_relaxed);
        std::rethrow_exception(std::exchange(failure_, nullptr));
    }
}

/// Does the work and keeps what it throws: a kernel may find no memory for its thread's working space.
void ThreadPool::do_work(int worker)
{
    try {
        work_(context_, worker);
    } catch (...) {
        if (!failed_.exchange(true, std::memory_order_relaxed))
            failure_ = std::current_exception();
    }
}

void ThreadPool::wait_for_news(unsigned seen) const
{
    for (int spins = 0; serial_.load(std::memory_order_acquire) == seen; ++spins) {
        if (spins < kSpinsBeforeYielding)
            pause_cpu();
        else if (spins < kSpinsBeforeParking || in_step_.load(std::memory_order_relaxed))
            std::this_thread::yield();
        else
            serial_.wait(seen, std::memory_order_acquire);
    }
}

void ThreadPool::worker_loop(int worker)
{
    unsigned seen = 0;
    for (;;) {
        wait_for_news(seen);
        if (quit_.load(std::memory_order_relaxed))
            return;
        std::uint64_t state = shared_.load(std::memory_order_acquire);
        if (Shared::serial(state) == seen) {  // this work was joined before serial_ told of it
            std::this_thread::yield();
            continue;
        }
        if (!Shared::over(state)) {
            const std::uint64_t joined = state + Shared::kJoined + Shared::kInside;
            if (!shared_.compare_exchange_weak(state, joined, std::memory_order_acquire))
                continue;
            do_work(worker);
            shared_.fetch_sub(Shared::kInside, std::memory_order_release);
        }
        seen = Shared::serial(state);
    }
}

}  // namespace engine
