// Measures what a decode step is made of, each by itself, through the kernels in use: the numbers of MachineRates.
#pragma once

#include "engine/exec/rows.h"
#include "engine/machine_rates.h"
#include "kernels/cpu.h"

#include <span>

namespace engine {

class ThreadPool;

class RateMeter
{
public:
    /// Throws std::bad_alloc. The pool is the caller's, and nobody else uses it meanwhile.
    explicit RateMeter(ThreadPool& pool);

    /// Sizes of the sets that a curve is measured at, bytes: from one core's cache to beyond any.
    static std::span<const std::size_t> sets();

    ProductRate product(const kernels::TypeTraits& type, int row_length);
    AttentionRate attention(KvType k_type, KvType v_type, int head_length, int group, int block_tokens);
    double values_per_s();
    double wake_s();
    /// Blocks of this size, one after another into a ring that the caches hold.
    double copy_bytes_per_s(std::size_t block_bytes);

private:
    /// Seconds of one call: the median of some, after one that does not count.
    template <class Work>
    double seconds(const Work& work);
    void product_pass(const kernels::TypeTraits& type, int row_length, int rows);
    void attention_pass(const kernels::KvBlockLayout& layout, int group, int blocks);

    struct Scratch {  // of one worker
        AlignedArray<float> q, scores, partial, sums, out;
    };
    ThreadPool& pool_;
    const kernels::CpuKernels& kernels_;
    AlignedArray<std::byte> memory_;  // (largest set,)
    AlignedArray<std::byte> x_;       // one row of activations, as floats or rounded
    std::vector<Scratch> scratch_;    // (threads,)
};

}  // namespace engine
