// Reference linear attention: each column of the state by itself, its sums over the keys in their order.
#include "kernels/cpu/scalar/scalar.h"

#include <algorithm>
#include <array>

namespace kernels::scalar {

// Columns that are computed together, since they are neighbours in memory.
static constexpr int kColumns = 16;

// Computes columns [first, first + count) for token t; count <= kColumns.
static void linear_attention_step(const LinearAttention& a, int t, int first, int count)
{
    const auto token = std::size_t(t);
    const float* q = a.q + token * a.qk_stride;
    const float* k = a.k + token * a.qk_stride;
    const float* v = a.v + token * a.v_stride + first;
    const float decay = a.decay[token * a.gate_stride], beta = a.beta[token * a.gate_stride];
    std::array<float, kColumns> seen{}, d{}, out{};
    if (a.delta_rule)
        for (int key = 0; key < a.keys; ++key) {
            const float* m = a.state + std::size_t(key) * a.state_stride + first;
            for (int c = 0; c < count; ++c)
                seen[std::size_t(c)] += m[c] * k[key];
        }
    for (int c = 0; c < count; ++c)
        d[std::size_t(c)] = beta * (v[c] - decay * seen[std::size_t(c)]);
    for (int key = 0; key < a.keys; ++key) {
        float* m = a.state + std::size_t(key) * a.state_stride + first;
        for (int c = 0; c < count; ++c) {
            m[c] = decay * m[c] + k[key] * d[std::size_t(c)];
            out[std::size_t(c)] += m[c] * q[key];
        }
    }
    std::copy_n(out.data(), count, a.out + token * a.out_stride + first);
}

void linear_attention(const LinearAttention& a)
{
    for (int first = 0; first < a.values; first += kColumns)
        for (int t = 0; t < a.tokens; ++t)
            linear_attention_step(a, t, first, std::min(kColumns, a.values - first));
}

}  // namespace kernels::scalar
