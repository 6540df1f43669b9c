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

constexpr std::chrono::milliseconds kLook{20};
constexpr int kExitCode = 130;  // as shells have it: 128 + SIGINT

std::atomic<int> interrupts{0};

void on_interrupt(int)
{
    std::signal(SIGINT, on_interrupt);  // some systems forget the handler when it is called
    if (++interrupts > 1) {
        give_streams_back();
        std::_Exit(kExitCode);
    }
}

}  // namespace

void catch_interrupts()
{
    interrupts = 0;
    std::signal(SIGINT, on_interrupt);
}

bool interrupted()
{
    return interrupts > 0;
}

void clear_interrupts()
{
    interrupts = 0;
}

/// A signal handler must not ask for the stop itself, since that may lock.
StopOnInterrupt::StopOnInterrupt()
    : watch_([stop = stop_](const std::stop_token& over) mutable {
        std::mutex mutex;
        std::condition_variable_any changed;
        std::unique_lock lock(mutex);
        while (!over.stop_requested() && !changed.wait_for(lock, over, kLook, interrupted)) {
        }
        if (interrupted())
            stop.request_stop();
    })
{
}

}  // namespace cli
