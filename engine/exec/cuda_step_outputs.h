// CudaStepOutputs brings to the host what a GPU has computed: rows, or the largest of a row of logits. Its calls wait
// until they are there.
#pragma once

#include "engine/exec/cuda_calls.h"
#include "engine/exec/cuda_memory.h"
#include "engine/exec/logits.h"
#include "engine/exec/recurrent_parameters.h"

#include <cstddef>
#include <vector>

namespace engine {

/// Owned by a GPU's backend, on its thread.
class CudaStepOutputs
{
public:
    /// `calls` and `sizes` outlive it, and so does what `memory` gives. Throws std::bad_alloc.
    CudaStepOutputs(CudaCalls& calls, const CudaSizes& sizes, CudaArena& memory);
    /// Allocates the page-locked memory, for rows as large as those of `like`. DeviceFull, DeviceLost.
    Status allocate(const Activations& like);

    /// Copies rows to the host. They are zeros where a call has failed.
    void fetch(const Rows& from, RowRange rows, Rows& host);
    /// Returns the `count` largest of a row of logits. RowLogits::largest can be read until the next call. Empty:
    /// `count` is more than the device searches for.
    RowLogits fetch_largest(const Rows& logits, int row, int count);

private:
    CudaCalls& calls_;
    const int most_ranked_;
    // On the device: scratch of the search for the largest logits, and what it found: (count,) floats, (count,) ints,
    // and one float.
    std::byte* rank_scratch_;
    std::byte* ranked_;
    CudaStaging staging_;
    std::vector<RankedLogit> largest_;
};

}  // namespace engine
