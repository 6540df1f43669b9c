#include "app/system/exit_deadline.h"

#include <spdlog/spdlog.h>

#include <cstdlib>
#include <system_error>
#include <thread>

void endProcessAfter(std::chrono::milliseconds patience, int code)
try {
    // What the thread needs is its own: it may outlive main().
    std::thread([patience, code, log = spdlog::default_logger()] {
        std::this_thread::sleep_for(patience);
        log->warn("something does not stop; the program ends without it");
        log->flush();
        std::_Exit(code);
    }).detach();
} catch (const std::system_error&) {
    spdlog::warn("no thread can be started: the program ends when all of it has stopped");
}
