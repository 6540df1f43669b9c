// Measures how fast this machine reads memory. No decode step on the CPU takes less time than the bytes it reads
// divided by that.
#pragma once

namespace engine {

class ThreadPool;

/// Returns the bytes per second at which all workers together read memory that no cache holds; the best of a few
/// passes. Throws std::bad_alloc.
double measure_dram_read(ThreadPool& pool);

/// Says whether this process measures with little memory and for a short time. Tests that only ask whether measuring
/// works set the variable: most of the time would go into pages that the system has to clear.
bool measures_small_sets();

}  // namespace engine
