#include "app/cli/interrupt.h"

#include "app/cli/system.h"

#include <atomic>
#include <csignal>
#include <cstdlib>

namespace cli {

namespace {

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

}  // namespace cli
