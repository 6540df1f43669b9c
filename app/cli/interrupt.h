// Catches Ctrl+C.
#pragma once

#include <stop_token>
#include <thread>

namespace cli {

/// Counts Ctrl+C from now on; it no longer ends the program, unless it comes twice without clear_interrupts().
void catch_interrupts();
bool interrupted();
void clear_interrupts();

/// While it lives, Ctrl+C asks to stop whatever has its token, within some hundredths of a second: also what tells
/// nobody how far it is, such as a chat template. It looks on a thread of its own, since a signal's handler may do next
/// to nothing.
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
