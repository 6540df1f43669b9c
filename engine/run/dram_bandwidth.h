// How fast this machine reads memory: the floor of a decode step is bytes / this.
#pragma once

namespace engine {

class ThreadPool;

/// Bytes per second at which all workers together read memory that no cache holds; the best of a few passes.
/// Throws std::bad_alloc.
double measure_dram_read(ThreadPool& pool);

}  // namespace engine
