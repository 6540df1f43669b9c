#include "app/cli/interrupt.h"

#include "app/cli/system.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <mutex>

namespace cli {

namespace {

std::atomic<int> interrupts{0};

void on_interrupt(int signal)
{
    std::signal(signal, on_interrupt);  // some systems remove the handler when they call it
    if (++interrupts > 1) {
        give_streams_back();
        std::_Exit(kInterrupted);
    }
}

}  // namespace

void catch_interrupts()
{
    interrupts = 0;
    std::signal(SIGINT, on_interrupt);
}

void catch_termination()
{
    std::signal(SIGTERM, on_interrupt);
}

bool interrupted()
{
    return interrupts > 0;
}

void clear_interrupts()
{
    interrupts = 0;
}

StopOnInterrupt::StopOnInterrupt()
    : watch_([stop = stop_](const std::stop_token& ended) mutable {
        std::mutex mutex;
        std::unique_lock lock(mutex);
        std::condition_variable_any wait;
        while (!interrupted() && !ended.stop_requested())
            wait.wait_for(lock, ended, std::chrono::milliseconds(20), [] { return interrupted(); });
        if (interrupted())
            stop.request_stop();
    })
{
    if (interrupted())
        stop_.request_stop();
}

}  // namespace cli
