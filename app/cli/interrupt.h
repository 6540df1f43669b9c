// Catches Ctrl+C.
#pragma once

#include <stop_token>
#include <thread>

namespace cli {

/// Counts Ctrl+C from now on; it no longer ends the program, unless it comes twice without clear_interrupts().
void catch_interrupts();
bool interrupted();
void clear_interrupts();

/// Asks for a stop soon after Ctrl+C, while it lives, whatever the main thread is doing then.
class StopOnInterrupt
{
public:
    StopOnInterrupt();
    std::stop_token token() const { return stop_.get_token(); }

private:
    std::stop_source stop_;
    std::jthread watch_;
};

}  // namespace cli
