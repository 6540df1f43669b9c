// Bounds what a process that reads a foreign file may do at most.
#pragma once

/// From now on this process gets no more memory and processor time than a document needs, and writes no file. What the
/// system cannot limit stays as it is.
void limitThisProcess();
