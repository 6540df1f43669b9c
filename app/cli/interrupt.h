// Catches Ctrl+C.
#pragma once

namespace cli {

/// Counts Ctrl+C from now on; it no longer ends the program, unless it comes twice without clear_interrupts().
void catch_interrupts();
bool interrupted();
void clear_interrupts();

}  // namespace cli
