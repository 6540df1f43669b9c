// Catches Ctrl+C.
#pragma once

namespace cli {

/// From now on Ctrl+C is counted and no longer ends the program, unless it comes twice without clear_interrupts().
void catch_interrupts();
bool interrupted();
void clear_interrupts();

}  // namespace cli
