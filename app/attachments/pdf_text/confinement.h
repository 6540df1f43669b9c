// Confines what a process that reads a foreign file may ask of the system.
#pragma once

#include <string>

/// Takes from this process, for good, the network, starting programs, writing and changing files, and touching other
/// processes; it goes on reading what it has been given. Returns nothing where all of that was done; else what this
/// system could not do, for the log. Limits hold all the same.
std::string confineThisProcess();
