// CpuRecurrent computes the mixers of recurrent layers on the CPU. A worker takes a head, or as many channels of the
// convolution, through all rows of the batch, one token after another, while its state stays in the first cache. There
// are no chunks and no matrix form, so the result does not depend on how tokens came in batches, nor on threads.
#pragma once

#include "engine/exec/recurrent_parameters.h"
#include "engine/exec/rows.h"
#include "engine/exec/thread_pool.h"

#include <cstdint>

namespace engine {

/// Owned by the CPU's backend; the engine's thread calls it. Nothing is kept between calls.
class CpuRecurrent
{
public:
    /// The pool outlives it, or is replaced by use().
    explicit CpuRecurrent(ThreadPool& pool)
        : kernels_(kernels::cpu_kernels())
        , pool_(&pool)
    {
    }
    /// Call it between steps: computes with these workers from now on.
    void use(ThreadPool& pool) { pool_ = &pool; }

    // These do the backend's operations of their names.
    void delta_net(Rows& mixed, const DeltaNetParameters& p, Rows& out);
    void mamba2(Rows& mixed, const Mamba2Parameters& p, Rows& out);
    void short_convolution(Rows& mixed, const ShortConvolutionParameters& p, Rows& out);

private:
    struct Channels;
    void convolve(const Channels& all, int first, int count, float* x, std::size_t stride, int tokens) const;
    void delta_net_head(int head, int first, int count, const Rows& mixed, const DeltaNetParameters& p,
                        Rows& out) const;
    void mamba2_head(int head, int first, int count, const Rows& mixed, const Mamba2Parameters& p, Rows& out) const;
    /// Calls work(item, first row, rows) for each item, with some rows after others.
    template <class Work>
    void for_each_item(int items, RowRange rows, std::int64_t products, const Work& work) const;

    const kernels::CpuKernels& kernels_;
    ThreadPool* pool_;
};

}  // namespace engine
