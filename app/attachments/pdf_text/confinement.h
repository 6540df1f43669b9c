// Confines what a process that reads a foreign file may ask of the system.
#pragma once

#include <string>

/// From now on this process has no network, starts no program, writes and changes no file, and touches no other
/// process; it goes on reading what it has been given. Empty: it is so. Else what this system could not do of it, for
/// the log; limits hold all the same.
std::string confineThisProcess();
