// CudaHostPart has the CPU attend those blocks of a GPU's layers that lie on the host: the GPU writes the queries into
// page-locked memory, the CPU attends, and the GPU reads the CPU's partials there when it merges them with its own. So
// a recorded step holds no copies for it, each of which would take as long as several small kernels.
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
    /// All that is given outlives it.
    CudaHostPart(CudaCalls& calls, const CudaStepInputs& inputs, CpuBackend& cpu, const CudaSizes& sizes);
    /// Allocates the page-locked memory. DeviceFull, DeviceLost.
    Status allocate(int key_length);

    /// Queues a kernel that writes the queries into the host's memory. Call it before the device attends its own
    /// blocks.
    void send_queries(const CudaAttending& a);
    /// Queues a mark: when it is reached, the queries that were sent have come.
    void note_queries();
    /// Waits for note_queries(), and attends.
    void wait_and_attend(const CudaAttending& a);
    /// Lets the CPU attend, once the queries have come.
    void attend(const CudaAttending& a);
    kernels::cuda::DevicePtr partials() const;  // of the CPU, for a kernel that is queued once it has attended

    CpuBackend& cpu() const { return cpu_; }

private:
    static kernels::cuda::HostPartialsLayout layout_of(const CudaAttending& a);
    float* queries_of(int r, const CudaAttending& a) const;  // in the staging memory

    CudaCalls& calls_;
    const CudaStepInputs& inputs_;
    CpuBackend& cpu_;
    const std::size_t partials_bytes_;
    const int most_heads_;
    CudaStaging staging_;  // the CPU's partials, and the queries; a GPU reaches both at the host's addresses
    CudaEvent queries_came_;
};

}  // namespace engine
