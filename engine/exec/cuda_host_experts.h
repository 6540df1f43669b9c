// CudaHostExperts has the CPU compute the routed experts of a GPU's layer that lie on the host: rows go to the host,
// and what the experts make of them comes back.
#pragma once

#include "engine/exec/cpu_backend.h"
#include "engine/exec/cuda_calls.h"
#include "engine/exec/cuda_memory.h"
#include "engine/exec/cuda_recorder.h"
#include "engine/exec/cuda_recording.h"
#include "engine/exec/cuda_step_inputs.h"

#include <cstddef>

namespace engine {

/// Owned by a GPU's backend, on its thread.
class CudaHostExperts
{
public:
    /// The model has experts. All that is given outlives it. `max_rows`: tokens of the largest batch. Throws
    /// std::bad_alloc.
    CudaHostExperts(CudaCalls& calls, const CudaStepInputs& inputs, CpuBackend& cpu, CudaRecorder& recorder,
                    const Hyperparameters& h, int max_rows);
    /// The page-locked memory. DeviceFull, DeviceLost.
    Status allocate();

    /// Precondition: w.experts_on_host. While a recording is made, the host's part is left to its replays.
    void compute(Rows& x, const LayerWeights& w, const ExpertParameters& p, Rows& out);
    /// Waits for the rows that were sent, and computes.
    void wait_and_compute(const CudaHostExpertsCall& call);

private:
    float* staged_routed() const;
    float* staged_out() const;
    void send(const Rows& from, float* to);

    CudaCalls& calls_;
    const CudaStepInputs& inputs_;
    CpuBackend& cpu_;
    CudaRecorder& recorder_;
    Rows x_;               // (rows, expert_length)
    Rows routed_;          // (rows, dim) that the router reads, where it is others
    Rows out_;             // (rows, expert_length)
    CudaStaging staging_;  // the three, on their way
};

}  // namespace engine
