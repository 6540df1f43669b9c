// Bounds what a process that reads a foreign file may do at most.
#pragma once

/// Limits this process from now on to 2 GiB of memory and 120 s of processor time; on Linux it can write no files, on
/// Windows it can start no processes. What the system cannot limit stays as it is.
void limitThisProcess();
