#include "app/system/exit_deadline.h"

#include <spdlog/spdlog.h>

#include <cstdlib>
#include <memory>
#include <system_error>
#include <thread>

namespace {

constexpr std::chrono::milliseconds kForTheLog{200};

/// Runs the work on a thread that has all that it needs: it may outlive main().
template <class Work>
void onThreadOfItsOwn(Work work)
{
    std::thread(std::move(work)).detach();
}

void logTheEnd(const std::shared_ptr<spdlog::logger>& log)
try {
    onThreadOfItsOwn([log] {
        log->warn("something does not stop; the program ends without it");
        log->flush();
    });
    std::this_thread::sleep_for(kForTheLog);
} catch (const std::system_error&) {
    return;  // no thread can be started: it ends without a word
}

}  // namespace

void endProcessAfter(std::chrono::milliseconds patience, int code)
try {
    // The log is written by another thread: what does not stop may be the disk, and then that one does not, either.
    onThreadOfItsOwn([until = std::chrono::steady_clock::now() + patience, code, log = spdlog::default_logger()] {
        std::this_thread::sleep_until(until - kForTheLog);
        logTheEnd(log);
        std::_Exit(code);
    });
} catch (const std::system_error&) {
    spdlog::warn("no thread can be started: the program ends when all of it has stopped");
}
