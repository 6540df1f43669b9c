// EmulatedGpu emulates a CUDA driver and its GPU in the host's memory: the table of driver functions that
// kernels/cuda/driver.h declares, with queues on threads of their own, events, graphs, and kernels run by grid.h. It is
// stricter than the real one: what is wrong there only sometimes is an error here.
#pragma once

#include "kernels/cuda/blas.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace emulator {

struct GpuFacts {
    std::string name = "Emulated GPU";
    int count = 1;  // devices, all alike
    std::size_t memory_bytes = std::size_t(256) << 20;
    int compute_major = 9, compute_minor = 0;
    int driver_version = 13000;
    int multiprocessors = 4;
    int clock_khz = 1'500'000;
    std::size_t granularity_bytes = 1;  // allocations of the device's memory take a multiple of it
    /// What is given to a queue begins so much later at the earliest.
    std::chrono::microseconds delay{0};
    /// Windows' display driver model: what is given to a queue is collected, and begins only when the program asks or
    /// waits for something, or when very much was collected.
    bool collects_work = false;
    bool returns_by_reset = false;  // after it was lost
    /// A call that takes or page-locks memory waits until all that was given is done, and every other call waits for
    /// that one: Windows' display driver model may do so.
    bool memory_calls_wait = false;
    /// Windows' display driver model: what finds no room in the device's memory goes to the host's, and nothing fails.
    /// The driver does not see what other programs hold, and calls it free.
    bool spills = false;
    /// A launch whose warps stop more often, at barriers or to exchange values, takes longer than Windows lets it: the
    /// device is lost. 0: it may take as long as it likes.
    std::uint64_t most_stops = 0;
};

/// Counts calls of the driver that a program makes at its start, and not again while it computes. Page-locked memory
/// that the driver allocates counts as a page lock.
struct MemoryCalls {
    int allocations = 0, frees = 0, fills = 0, page_locks = 0;
    bool operator==(const MemoryCalls&) const = default;
};

/// The machine's GPU as long as the object lives: one at a time. The functions may be called from any thread.
class EmulatedGpu
{
public:
    explicit EmulatedGpu(const GpuFacts& facts = {});
    ~EmulatedGpu();
    EmulatedGpu(const EmulatedGpu&) = delete;
    EmulatedGpu& operator=(const EmulatedGpu&) = delete;

    static const kernels::cuda::DriverTable& table();
    /// Images that name the kernels compiled for the host.
    static kernels::cuda::KernelImages images();
    /// cuBLAS's twin; to be put into the platform where a test wants it to be installed.
    static const kernels::cuda::BlasLibrary& blas();

    /// Lets the n-th call of a driver function from now fail (1: the next), without effect. After a status that means
    /// a lost device, all further calls fail with it too.
    void fail_call(int n, kernels::cuda::Status status);
    int calls() const;  // of driver functions so far
    /// Does the same for cuBLAS's functions: one call says that it failed, and those after it work again.
    void fail_blas_call(int n);

    /// Memory that other programs hold: it counts against the free memory.
    void hold_memory(std::size_t bytes);
    std::size_t used_bytes() const;
    std::size_t peak_bytes() const;
    /// Returns how much of the used bytes lies in the host's memory: see GpuFacts::spills.
    std::size_t spilled_bytes() const;
    /// Returns the most that lay there when an allocation had been made.
    std::size_t peak_spilled_bytes() const;
    int allocations() const;  // of the device's memory that are there now
    int events() const;       // that are there now
    std::size_t locked_bytes() const;
    /// Returns how many of these calls the calling thread has made so far.
    MemoryCalls memory_calls() const;
    /// Returns how many of them all threads have made together.
    MemoryCalls memory_calls_of_all() const;
    /// From now on no more of the host's memory is page-locked.
    void refuse_page_locks();
    /// From now on page-locking takes so long.
    void delay_page_locks(std::chrono::microseconds time);

    std::string fault() const;  // what the first kernel that failed did wrong; else empty
    std::string leaks() const;  // what was made and not given back; else empty
    int kernels_run() const;
    /// Returns how often the warps of a launch have stopped at most: see GpuFacts::most_stops.
    std::uint64_t longest_launch() const;
    int graphs_made() const;
    /// Returns how many copies, of any direction, were recorded for graphs so far.
    int copies_recorded() const;
    int blas_products() const;

    struct State;

private:
    std::unique_ptr<State> state_;
};

}  // namespace emulator
