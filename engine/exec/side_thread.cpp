#include "engine/exec/side_thread.h"

#include <system_error>
#include <utility>

namespace engine {

SideThread::~SideThread()
{
    {
        const std::lock_guard lock(mutex_);
        quit_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable())
        thread_.join();
}

void SideThread::begin(const std::function<void()>& work)
{
    if (!thread_.joinable()) {
        try {
            thread_ = std::thread([this] { loop(); });
        } catch (const std::system_error&) {
            return do_now(work);
        }
    }
    {
        const std::lock_guard lock(mutex_);
        work_ = &work;
    }
    changed_.notify_all();
}

void SideThread::wait()
{
    wait_until_done();
    if (failure_)
        std::rethrow_exception(std::exchange(failure_, nullptr));
}

void SideThread::end()
{
    wait_until_done();
    failure_ = nullptr;
}

void SideThread::wait_until_done()
{
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !work_; });
}

void SideThread::do_now(const std::function<void()>& work)
{
    try {
        work();
    } catch (...) {
        failure_ = std::current_exception();
    }
}

void SideThread::loop()
{
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return work_ || quit_; });
        if (!work_)
            return;
        lock.unlock();
        do_now(*work_);
        lock.lock();
        work_ = nullptr;
        changed_.notify_all();
    }
}

}  // namespace engine
