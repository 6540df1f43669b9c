// CudaAttention keeps keys and values in their blocks and attends them on a GPU. What is resident, or comes through the
// ring, is attended there, in the runs in which it comes; what stays on the host is attended by the CPU at the same
// time, and the partials are merged.
#pragma once

#include "engine/exec/cuda_calls.h"
#include "engine/exec/cuda_host_part.h"
#include "engine/exec/cuda_joins.h"
#include "engine/exec/cuda_products.h"
#include "engine/exec/cuda_recorder.h"
#include "engine/exec/cuda_step_inputs.h"

#include <cstddef>

namespace engine {

/// Owned by a GPU's backend, on its thread.
class CudaAttention
{
public:
    /// All that is given outlives it. Throws std::bad_alloc.
    CudaAttention(CudaCalls& calls, const CudaStepInputs& inputs, CudaProducts& products, CudaHostPart& host_part,
                  CudaJoins& joins, CudaRecorder& recorder, const CudaSizes& sizes, CudaArena& memory);

    // These do the backend's operations of their names, for the step that was begun. prepare_heads() and
    // project_heads() norm each head by itself, before it is turned, and in its place.
    void prepare_heads(const Rows& qkv, const HeadPreparation& p, int l, const Step& step);
    void project_heads(Rows& x, std::span<const Product> products, Rows& qkv, const HeadPreparation& p, int l,
                       const Step& step);
    void store_kv(const Rows& qkv, const HeadLayout& heads, int l, const Step& step);
    void attend(const Rows& qkv, const AttentionParameters& p, int l, const Step& step, Rows& out);

    /// Does what a recording leaves out because the host takes part: the device attends its blocks, and at the same
    /// time the host attends its own. Where it has any, the queries have been sent.
    void attend_here_and_there(const CudaAttending& a);

private:
    kernels::cuda::PreparedHeads prepared(const Rows& qkv, const HeadPreparation& p) const;
    CudaAttending few_of(const CudaAttending& all, int row, int rows) const;
    void attend_few(const CudaAttending& a, const kernels::cuda::Rounded& rounded);
    void attend_many(const CudaAttending& a);
    void attend_here(const CudaAttending& a);
    void record_join(const CudaAttending& a);

    CudaCalls& calls_;
    const CudaStepInputs& inputs_;
    CudaProducts& products_;
    CudaHostPart& host_part_;
    CudaJoins& joins_;
    CudaRecorder& recorder_;
    const int max_blocks_, few_rows_;
    // On the device: the partials of a few rows; and what attention of many rows carries from run to run.
    std::byte* partials_;
    std::byte* carried_;
};

}  // namespace engine
