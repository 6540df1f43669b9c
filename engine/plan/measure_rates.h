// Measures what a decode step is made of, each by itself, through the kernels in use: the numbers of MachineRates.
#pragma once

#include "engine/device/huge_array.h"
#include "engine/exec/rows.h"
#include "engine/machine_rates.h"
#include "kernels/cpu.h"

#include <span>

namespace engine {

class ThreadPool;

/// The KV of one head in a block.
struct KvForm {
    KvType k_type = KvType::F16, v_type = KvType::F16;
    int head_length = 64;
    int group = 1;  // query heads that share it
    int block_tokens = 256;
};

class RateMeter
{
    static constexpr int kMatrixRows = 2048;  // of a prompt's product

public:
    /// At least `least_ms` are spent on each number. Throws std::bad_alloc. The pool is the caller's, and nobody else
    /// uses it meanwhile.
    RateMeter(ThreadPool& pool, int least_ms);

    /// Returns the sizes of the sets that a curve is measured at, in bytes: from one core's cache to beyond any.
    static std::span<const std::size_t> sets();

    ProductRate product(const kernels::TypeTraits& type, int row_length);
    AttentionRate attention(const KvForm& form);
    /// Measures a prompt's product: multiplications and additions per second.
    double matmul_ops_per_s(const kernels::TypeTraits& type, int row_length, int tokens, int rows = kMatrixRows);
    double values_per_s();
    double wake_s();
    /// Measures the choice of a token, as the program does it by default: once, and for each entry of a vocabulary.
    struct Choice {
        double token_s = 0, s_per_value = 0;
    };
    Choice choice();
    double copy_start_s();
    /// Measures a layer's blocks of `kv_heads` heads that go through a ring, copied while those before are attended.
    double stream_bytes_per_s(const KvForm& form, int kv_heads);

private:
    /// Returns the seconds of one call: the median of some, after one that does not count.
    template <class Work>
    double seconds(const Work& work);
    struct Weights {
        void (*multiply)(const kernels::MatMul&);
        const std::byte* rows;
    };
    Weights weights_of(kernels::TensorType type) const;
    void product_pass(const kernels::TypeTraits& type, int row_length, int first, int rows);
    void choose_read_ahead(const kernels::TypeTraits& type, int row_length);
    void attention_pass(const kernels::KvBlockLayout& layout, int group, const std::byte* memory, int pages,
                        int per_page);

    struct Scratch {  // of one worker
        AlignedArray<float> q, scores, partial, sums, out;
    };
    ThreadPool& pool_;
    std::int64_t least_us_;
    const kernels::CpuKernels& kernels_;
    std::size_t bytes_;
    HugeArray in_large_pages_;        // (bytes,) of weights that HostWeights copies, and KV
    AlignedArray<std::byte> memory_;  // (bytes,) of everything else, in pages as they come
    AlignedArray<std::byte> x_;       // one row of activations, as floats or rounded
    std::vector<Scratch> scratch_;    // (threads,)
};

}  // namespace engine
