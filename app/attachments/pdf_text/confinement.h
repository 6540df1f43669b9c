// Confines what a process that reads a foreign file may ask of the system.
#pragma once

#include <string>

/// On Linux, forbids this process for good to use the network, to start programs, to write or change files and to touch
/// other processes; on Windows, to change what belongs to the user. It can still read its input. Returns, for the log,
/// what could not be forbidden, on Windows always the network; an empty text where everything was. The limits of
/// limitThisProcess() hold all the same.
std::string confineThisProcess();
