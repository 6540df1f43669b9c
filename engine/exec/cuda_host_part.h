// CudaHostPart has the CPU attend those blocks of a GPU's layers that lie on the host: queries go to the host, the CPU
// attends, and its partials go to the device, which merges them with its own.
#pragma once

#include "engine/exec/cpu_backend.h"
#include "engine/exec/cuda_calls.h"
#include "engine/exec/cuda_event.h"
#include "engine/exec/cuda_memory.h"
#include "engine/exec/cuda_recording.h"
#include "engine/exec/cuda_step_inputs.h"

#include <cstddef>

namespace engine {

/// Owned by a GPU's backend, on its thread. Each call is for CudaSizes::kFewRows rows at most.
class CudaHostPart
{
public:
    /// All that is given outlives it. Throws std::bad_alloc.
    CudaHostPart(CudaCalls& calls, const CudaStepInputs& inputs, CpuBackend& cpu, const CudaSizes& sizes,
                 CudaArena& memory);
    /// Allocates the page-locked memory. DeviceFull, DeviceLost.
    Status allocate(int key_length);

    /// Queues a copy of the queries to the host. Call it before the device attends its own blocks.
    void send_queries(const CudaAttending& a);
    /// Queues a mark: when it is reached, the queries that were sent have come.
    void note_queries();
    /// Waits for note_queries(), and attends.
    void wait_and_attend(const CudaAttending& a);
    /// Lets the CPU attend, once the queries have come.
    void attend(const CudaAttending& a);
    /// Queues a copy of the CPU's partials to the device.
    void bring_partials(const CudaAttending& a);
    kernels::cuda::DevicePtr partials() const;  // where they are on the device then

    CpuBackend& cpu() const { return cpu_; }

private:
    static kernels::cuda::HostPartialsLayout layout_of(const CudaAttending& a);
    static std::size_t query_bytes(const CudaAttending& a);
    float* partials_of(const CudaAttending& a) const;  // in the staging memory

    CudaCalls& calls_;
    const CudaStepInputs& inputs_;
    CpuBackend& cpu_;
    const std::size_t partials_bytes_;
    const int most_heads_;
    std::byte* partials_;  // of the device
    CudaStaging staging_;  // queries on their way to the host, and the CPU's partials on their way back
    CudaEvent queries_came_;
};

}  // namespace engine
