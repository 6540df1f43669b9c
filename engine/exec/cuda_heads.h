// CudaHeads multiplies each head of a row with a matrix of its own on a GPU, as latent attention does.
#pragma once

#include "engine/exec/backend.h"
#include "engine/exec/cuda_calls.h"
#include "engine/exec/cuda_memory.h"

#include <cstddef>

namespace engine {

/// Owned by a GPU's backend, on its thread.
class CudaHeads
{
public:
    /// Takes bytes() from `memory`; `calls` outlives it. Throws std::bad_alloc.
    CudaHeads(CudaCalls& calls, const Hyperparameters& h, const CudaSizes& sizes, CudaArena& memory);

    // These do the backend's operations of their names; in multiply() the heads of `from` fill the rows of x.
    void multiply(const Rows& x, const HeadColumns& from, const Matrix& stack, Rows& out, const HeadColumns& to);
    void copy(const Rows& x, const HeadColumns& from, Rows& out, const HeadColumns& to);

private:
    CudaCalls& calls_;
    std::byte* rounded_;   // (rows, heads) of the device, each head as a row of 8-bit activations
    std::byte* residual_;  // what rounding lost; null where that is left out
};

}  // namespace engine
