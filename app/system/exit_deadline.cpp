#include "app/system/exit_deadline.h"

#include <spdlog/spdlog.h>

#include <cstdlib>
#include <memory>
#include <system_error>
#include <thread>

namespace {

constexpr std::chrono::milliseconds kForTheLog{200};

/// Runs the work on a detached thread, which may outlive main(), so the work must own all that it uses.
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
    return;  // no thread can be started: nothing is logged
}

}  // namespace

void endProcessAfter(std::chrono::milliseconds patience, int code)
try {
    // A second thread writes the log: if the disk is what hangs, the log hangs as well, and this one still ends the
    // process.
    onThreadOfItsOwn([until = std::chrono::steady_clock::now() + patience, code, log = spdlog::default_logger()] {
        std::this_thread::sleep_until(until - kForTheLog);
        logTheEnd(log);
        std::_Exit(code);
    });
} catch (const std::system_error&) {
    spdlog::warn("no thread can be started: the program ends when all of it has stopped");
}
