// Bounds what a process that reads a foreign file may do at most.
#pragma once

/// Limits this process from now on to the memory and processor time that a document needs, and to writing no file. What
/// the system cannot limit stays as it is.
void limitThisProcess();
