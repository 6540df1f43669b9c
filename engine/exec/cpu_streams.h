// CpuStreams does the operations of residual streams on the CPU, each row by itself.
#pragma once

#include "engine/exec/stream_operations.h"
#include "engine/exec/thread_pool.h"

namespace engine {

/// Owned by the CPU's backend; the engine's thread calls it. Nothing is kept between calls.
class CpuStreams final : public StreamOperations
{
public:
    /// The pool outlives it, or is replaced by use().
    explicit CpuStreams(ThreadPool& pool)
        : kernels_(kernels::cpu_kernels())
        , pool_(&pool)
    {
    }
    /// Call it between steps: computes with these workers from now on.
    void use(ThreadPool& pool) { pool_ = &pool; }

    void take(const Rows& streams, int row, int s, int dim, Rows& out) override;
    void take_first(const Rows& streams, int dim, Rows& out) override;
    void predict(const Rows& routed, Vector coefficients, Rows& streams, Rows& active) override;
    void correct(const Rows& routed, Vector coefficients, const Rows& active, Vector weight, Rows& streams,
                 Rows& first) override;
    void add_to_others(const Rows& y, Rows& streams) override;
    void join(const Rows& streams, Rows& first) override;
    void norm(Rows& x, int dim, Vector weight, float epsilon, Rows& out) override;
    void mean(const Rows& streams, int dim, Rows& out) override;
    void inject(const Rows& shares, const Rows& y, Rows& streams) override;
    void gate_ngrams(const Rows& queries, const Rows& values, Rows& keys) override;
    void convolve(Vector taps, int width, float* history, RowRange of, Rows& x) override;

    /// Makes x, (rows, dim), the first stream, and gives the others its length.
    void even_out(const Rows& x, Rows& streams);
    /// Makes each stream a copy of x, (rows, dim).
    void repeat(const Rows& x, int count, Rows& streams);

private:
    /// Calls work(row) for each of the rows.
    template <class Work>
    void for_each_row(const Rows& rows, const Work& work) const;

    const kernels::CpuKernels& kernels_;
    ThreadPool* pool_;
};

}  // namespace engine
