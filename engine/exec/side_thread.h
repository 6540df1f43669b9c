// SideThread does one piece of work at a time beside the engine's thread, which goes on meanwhile and waits for its
// end.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace engine {

/// The engine's thread calls it.
class SideThread
{
public:
    SideThread() = default;
    ~SideThread();
    SideThread(const SideThread&) = delete;
    SideThread& operator=(const SideThread&) = delete;

    /// `work` lives until wait() has returned. Where the system gives no more threads, the work is done before this
    /// returns.
    void begin(const std::function<void()>& work);
    /// Waits for the work, and throws what it has thrown.
    void wait();
    /// Waits for the work, if any was begun, and forgets what it threw.
    void end();

private:
    void loop();
    void wait_until_done();
    void do_now(const std::function<void()>& work);

    std::mutex mutex_;
    std::condition_variable changed_;
    const std::function<void()>* work_ = nullptr;  // was begun and has not ended
    std::exception_ptr failure_;
    bool quit_ = false;
    std::thread thread_;  // none until the first work
};

}  // namespace engine
