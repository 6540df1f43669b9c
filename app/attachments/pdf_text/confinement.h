// Confines what a process that reads a foreign file may ask of the system.
#pragma once

#include <string>

/// On Linux, forbids this process for good to use the network, to start programs, to write or change files and to touch
/// other processes; on Windows, to change what belongs to the user. It can still read its input. Returns an empty text
/// where all that Linux forbids was done; else what this system could not do, for the log: on Windows there is always
/// the network. The limits of limitThisProcess() hold all the same.
std::string confineThisProcess();
