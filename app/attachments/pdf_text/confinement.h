// Confines what a process that reads a foreign file may ask of the system.
#pragma once

#include <string>

/// Takes from this process, for good, the network, starting programs, writing and changing files, and touching other
/// processes; it goes on reading what it has been given. Empty: it is so. Else what this system could not do of it, for
/// the log; limits hold all the same.
std::string confineThisProcess();
