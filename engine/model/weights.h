// Weights holds the weights of a model: named tensors of the file as matrices and vectors, checked against the
// hyperparameters. Nothing is copied but small vectors that are not stored as floats.
#pragma once

#include "engine/gguf/gguf_file.h"
#include "engine/model/hyperparameters.h"
#include "kernels/types.h"

#include <deque>
#include <vector>

namespace engine {

/// `rows` rows of n weights. A stack of matrices (experts) is one tensor: matrix e starts at e * bytes().
struct Matrix {
    kernels::TensorType type = kernels::TensorType::F32;
    int n = 0;
    int rows = 0;
    const std::byte* data = nullptr;
    bool interleaved = false;      // its rows, by kernels::CpuKernels::interleave
    const float* scale = nullptr;  // a factor for all weights, of a stack one for each matrix; null: 1

    explicit operator bool() const { return data != nullptr; }
    std::size_t bytes() const { return std::size_t(rows) * kernels::row_bytes(type, n); }
    Matrix expert(int e) const
    {
        return {type, n, rows, data + std::size_t(e) * bytes(), interleaved, scale ? scale + e : nullptr};
    }
};

/// Null where the architecture has none.
using Vector = const float*;

struct LayerWeights {
    Vector attn_norm = nullptr;  // (dim,)
    Matrix qkv;                  // fused: (q_dim + 2 kv_dim, dim), else
    Matrix q, k, v;              // (q_dim, dim), (kv_dim, dim), (kv_dim, dim)
    Vector q_bias = nullptr, k_bias = nullptr, v_bias = nullptr, qkv_bias = nullptr;
    Vector q_norm = nullptr, k_norm = nullptr;  // (key_length,)
    Vector sinks = nullptr;                     // (heads,)
    Matrix attn_out;                            // (dim, q_dim)
    Vector attn_out_bias = nullptr;             // (dim,)
    Vector attn_post_norm = nullptr;            // (dim,)

    Vector ffn_norm = nullptr;       // (dim,)
    Matrix gate, up;                 // (ffn, dim); fused: up is (2 ffn, dim), gate first, and gate is empty
    Matrix down;                     // (dim, ffn)
    Vector ffn_post_norm = nullptr;  // (dim,)

    Matrix router;                                                  // (experts, dim); empty: no experts in this layer
    Vector router_bias = nullptr;                                   // (experts,)
    Matrix gate_experts, up_experts;                                // (experts, expert_ffn, dim)
    Matrix down_experts;                                            // (experts, dim, expert_ffn)
    Vector gate_experts_bias = nullptr, up_experts_bias = nullptr;  // (experts, expert_ffn)
    Vector down_experts_bias = nullptr;                             // (experts, dim)
};

/// visit(matrix, how many of its size there are, one after another) for every one there is. W: LayerWeights, const or
/// not
template <class W, class Visit>
void for_each_matrix(W& w, int experts, const Visit& visit)
{
    for (auto* matrix : {&w.qkv, &w.q, &w.k, &w.v, &w.attn_out, &w.gate, &w.up, &w.down, &w.router})
        if (*matrix)
            visit(*matrix, 1);
    for (auto* stack : {&w.gate_experts, &w.up_experts, &w.down_experts})
        if (*stack)
            visit(*stack, experts);
}

/// What follows the last layer.
struct HeadWeights {
    Vector norm = nullptr;  // (dim,)
    Matrix output;          // (vocabulary, dim); the embedding again where the file ties them
};

class Weights
{
public:
    /// Every tensor the architecture needs is there, with the right shape and a type this version computes with.
    static Result<Weights> read(const GgufFile& file, const Hyperparameters& h);

    Matrix token_embedding;  // (vocabulary, dim)
    std::vector<LayerWeights> layers;
    HeadWeights head;
    std::vector<float> rope_factors;                           // llama 3's rope_freqs
    std::vector<float> rope_factors_long, rope_factors_short;  // long-rope
    std::int64_t bytes = 0;                                    // of all tensors

private:
    friend class WeightReader;
    std::deque<std::vector<float>> converted_;  // vectors the file does not store as floats
};

}  // namespace engine
