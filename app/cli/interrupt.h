// Catches Ctrl+C.
#pragma once

#include <stop_token>
#include <thread>

namespace cli {

constexpr int kInterrupted = 130;  // exit code where Ctrl+C ended what was asked for, as shells have it: 128 + SIGINT

/// Counts Ctrl+C from now on. It no longer ends the program, unless it comes twice without clear_interrupts() between.
void catch_interrupts();
/// Does the same for SIGTERM, with which systems end what runs in the background.
void catch_termination();
bool interrupted();
void clear_interrupts();

/// While an object of this class lives, Ctrl+C requests a stop by its token within some hundredths of a second; at once
/// if Ctrl+C came before and was not cleared. This works also while no progress is reported, as while a chat template
/// is rendered. A thread of its own looks for the signal, since a signal's handler may do next to nothing.
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
