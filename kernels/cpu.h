// CpuKernels lists the CPU operations the engine may call: the room's front door. Scalar fills every slot and defines
// what "correct" means; each wider instruction set overwrites only the slots it makes faster.
//
// One promise holds for every table: an output value depends only on its own inputs. The product of a weight row and
// a token's activations is summed in an order that does not depend on how many rows or tokens were asked for in one
// call, so prefill chunks, decode steps and any division of the work among threads give the same bits.
#pragma once

#include "kernels/kv_block.h"
#include "kernels/types.h"

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace kernels {

/// The form in which the product with a type's weights takes its activations.
enum class Activation { F32, Q8 };

/// Returns F32 for F32, F16 and BF16 weights, and Q8 for the quantised ones.
Activation activation_of(TensorType type);

/// Returns the bytes of one row of n activations, a multiple of 64 so that rows may follow each other in an aligned
/// buffer.
std::size_t activation_row_bytes(Activation activation, int n);

/// Views into a row of n activations rounded to 8 bits, 32 values a scale. n is a multiple of 32.
struct Q8Row {
    const std::int8_t* q;  // (n,)
    const float* scale;    // (n / 32,)   value = q * scale
    const float* sum16;    // (n / 16,)   scale * sum of the 16 q: for types whose weights have an offset
    const float* sum32;    // (n / 32,)   scale * sum of the 32 q
    // -128 * sum of the 16 or 32 q: what an integer product must add when it takes signed weights as w + 128
    const std::int32_t* shift16;  // (n / 16,)
    const std::int32_t* shift32;  // (n / 32,)
    Q8Row(const std::byte* row, int n);
};

/// Rows that CpuKernels::interleave lays side by side.
constexpr int kInterleavedRows = 16;

/// out[t * out_stride + r] = sum over i of weights[r][i] * x[t][i].
struct MatMul {
    int n = 0;                           // length of a row: a multiple of the type's block length
    int rows = 0;                        // weight rows
    const std::byte* weights = nullptr;  // (rows, row_bytes(type, n))
    int tokens = 0;
    const std::byte* x = nullptr;  // (tokens, x_stride bytes) in the form activation_of(type) names
    std::size_t x_stride = 0;      // bytes
    float* out = nullptr;
    std::size_t out_stride = 0;  // floats
};

/// Attention of a group of query heads over one KV block of the KV head they share: a partial result.
/// For query head g: s[t] = dot(q[g], k[t]), soft-capped; max = max s; sum = sum of exp(s - max);
/// out = sum of exp(s[t] - max) * v[t]  (not divided by sum), over tokens first <= t < last.
struct AttendBlock {
    KvBlockLayout layout;
    const std::byte* block = nullptr;  // layout.bytes()
    int first = 0, last = 0;           // tokens of the block that are attended; first < last
    int group = 1;                     // query heads
    const float* q = nullptr;          // (group, k_dim), already scaled
    float softcap = 0.0f;              // 0: none; else s = softcap * tanh(s / softcap)
    float* scores = nullptr;           // (group, layout.tokens) scratch
    float* max = nullptr;              // (group,)
    float* sum = nullptr;              // (group,)
    float* out = nullptr;              // (group, v_dim)
    const std::byte* next = nullptr;   // the block that is attended after this one, prefetched meanwhile; or null
};

/// Linear attention with a state M (keys, values) that decays: the gated delta rule (arXiv 2412.06464), or the plain
/// sum of Mamba-2 (arXiv 2405.21060). For one token after another, in this order:
///   d = beta * (v - decay * M^T k)  by the delta rule, else  d = beta * v
///   M = decay * M + k d^T
///   out = M^T q
/// Columns do not depend on each other, nor does the result on how tokens are divided among calls: any division of the
/// columns and of the tokens gives the same bits.
struct LinearAttention {
    int keys = 0;
    int values = 0;  // columns of this call
    int tokens = 0;
    bool delta_rule = false;
    const float *q = nullptr, *k = nullptr;  // (tokens, keys)
    std::size_t qk_stride = 0;               // floats between tokens, here and below
    const float* v = nullptr;                // (tokens, values)
    std::size_t v_stride = 0;
    const float *decay = nullptr, *beta = nullptr;  // (tokens,)
    std::size_t gate_stride = 0;
    float* state = nullptr;        // (keys, values)
    std::size_t state_stride = 0;  // floats between keys
    float* out = nullptr;          // (tokens, values)
    std::size_t out_stride = 0;
};

/// A causal convolution of each channel by itself, in place:
///   x[t] = act(bias + sum over j < width of taps[j] * x[t - width + 1 + j]),
/// where what comes before the first token is in `history`, which then holds the last inputs of this call.
struct Convolution {
    int channels = 0;             // of this call; a few hundred stay in the first cache
    int width = 0;                // taps, at least 1
    const float* taps = nullptr;  // (width, channels), oldest first
    const float* bias = nullptr;  // (channels,) or null
    float* history = nullptr;     // (width - 1, channels), oldest first
    std::size_t tap_stride = 0;   // floats between rows of taps
    std::size_t history_stride = 0;
    int tokens = 0;
    float* x = nullptr;  // (tokens, channels)
    std::size_t x_stride = 0;
    bool silu = false;  // act(y) = y * sigmoid(y), else y
};

struct CpuKernels {
    const char* name;  // "scalar", "avx2", "avxvnni", "avx512", "amx": shown in the monitor, accepted by SPILLWAY_CPU

    std::array<void (*)(const MatMul&), kTensorTypeIds> matmul;  // by type id; null where there is no such type

    // Writes weights with their rows interleaved as this table reads them fastest, in as many bytes; null where that
    // gains nothing. weights: (rows, row_bytes(type, n)). Every kInterleavedRows rows stay together, so that a product
    // may begin at any multiple of it; the rows that are left at the end stay as they are.
    std::array<void (*)(int n, int rows, const std::byte* weights, std::byte* out), kTensorTypeIds> interleave;
    // The same product of such weights, with the same bits.
    std::array<void (*)(const MatMul&), kTensorTypeIds> matmul_interleaved;

    // row: (n,) weights of `type` to floats
    void (*dequantize)(TensorType type, int n, const std::byte* row, float* out);

    // x: (n,) floats to one row of 8-bit activations
    void (*quantize_q8)(int n, const float* x, std::byte* row);

    // out[i] = x[i] * weight[i] / rms(x). x, weight, out: (n,); out may be x
    void (*rms_norm)(int n, const float* x, const float* weight, float eps, float* out);

    // out[i] = factor * x[i] / sqrt(sum of x * x + eps). x, out: (n,); out may be x
    void (*l2_norm)(int n, const float* x, float eps, float factor, float* out);
    // out[i] = (x[i] - mean(x)) * weight[i] / sqrt(variance(x) + eps). x, weight, out: (n,); out may be x
    void (*layer_norm)(int n, const float* x, const float* weight, float eps, float* out);

    // x[i] += y[i]
    void (*add)(int n, const float* y, float* x);

    // Rotates one head in place. cos, sin: (n_rot / 2,). neox: pairs (i, i + n_rot/2); else pairs (2i, 2i + 1)
    void (*rope)(bool neox, int n_rot, const float* cos, const float* sin, float* head);

    // Gated activations. gate, up, out: (n,); out may be gate or up
    void (*silu_mul)(int n, const float* gate, const float* up, float* out);  // silu(gate) * up
    void (*gelu_mul)(int n, const float* gate, const float* up, float* out);  // tanh form of gelu
    // gpt-oss: g = min(gate, limit), u = clamp(up, -limit, limit); g * sigmoid(alpha * g) * (u + 1)
    void (*swiglu_oai)(int n, const float* gate, const float* up, float alpha, float limit, float* out);

    void (*sigmoid_mul)(int n, const float* gate, const float* up, float* out);  // sigmoid(gate) * up

    // out[i] = max(x[i], 0)^2. out may be x
    void (*relu_squared)(int n, const float* x, float* out);

    void (*linear_attention)(const LinearAttention& a);
    void (*short_convolution)(const Convolution& c);

    // Writes token t of a block. k: (k_dim,), v: (v_dim,), which is not read where values are the first part of keys
    void (*store_kv)(const KvBlockLayout& layout, std::byte* block, int t, const float* k, const float* v);

    // Reads token t back, with the rounding that attention sees
    void (*load_kv)(const KvBlockLayout& layout, const std::byte* block, int t, float* k, float* v);

    void (*attend_block)(const AttendBlock& a);

    // Joins a partial into an accumulated one, both (max, sum, out) over dim values. acc_max = -inf: empty.
    void (*merge_partial)(int dim, float max, float sum, const float* out, float& acc_max, float& acc_sum,
                          float* acc_out);
};

const CpuKernels& cpu_kernels();                // the table in use, chosen once: by dispatch.h, or by SPILLWAY_CPU
std::span<const CpuKernels> all_cpu_kernels();  // every table this machine can run, scalar first

/// Returns the name SPILLWAY_CPU asks for when no such table runs here (then scalar is in use), else an empty text. The
/// program tells its user.
std::string_view unknown_forced_table();

}  // namespace kernels
