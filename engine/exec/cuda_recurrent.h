// CudaRecurrent queues the mixers of recurrent layers on a GPU: three kernels a layer. Their pointers and shapes never
// change for a layer, so that a graph may hold them. Like the CPU's, they go row by row: it makes no difference how
// tokens come in batches.
#pragma once

#include "engine/exec/cuda_calls.h"
#include "engine/exec/recurrent_parameters.h"
#include "engine/exec/rows.h"

namespace engine {

/// Owned by a GPU's backend, on its thread. Has no data of its own; the layers' states lie in the device's memory.
class CudaRecurrent
{
public:
    /// Says whether there are kernels for these layers. Unsupported: the sentence says for what there is none.
    static Status supports(const StateSpace& space);

    /// `calls` outlives it.
    explicit CudaRecurrent(CudaCalls& calls)
        : calls_(calls)
    {
    }

    // These do the backend's operations of their names.
    void delta_net(Rows& mixed, const DeltaNetParameters& p, Rows& out);
    void mamba2(Rows& mixed, const Mamba2Parameters& p, Rows& out);
    void short_convolution(Rows& mixed, const ShortConvolutionParameters& p, Rows& out);

private:
    CudaCalls& calls_;
};

}  // namespace engine
