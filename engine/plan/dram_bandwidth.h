// Measures how fast this machine reads memory. No decode step on the CPU takes less time than the bytes it reads
// divided by that.
#pragma once

namespace engine {

class ThreadPool;

/// Returns the bytes per second at which all workers together read memory that no cache holds; the best of a few
/// passes. Throws std::bad_alloc.
double measure_dram_read(ThreadPool& pool);

}  // namespace engine
