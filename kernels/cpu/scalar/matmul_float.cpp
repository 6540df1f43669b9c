// Reference product of float, half and bfloat16 weights with float activations. Sixteen running sums, weight i going
// to sum i % 16, keep the rounding error small over long rows and the order the same for every row and token.
#include "kernels/cpu/scalar/scalar.h"
#include "kernels/half.h"

#include <cstring>

namespace kernels::scalar {

static constexpr int kSums = 16;

struct F32 {
    using Stored = float;
    static float value(float w) { return w; }
};
struct F16 {
    using Stored = std::uint16_t;
    static float value(std::uint16_t w) { return half_to_float(w); }
};
struct BF16 {
    using Stored = std::uint16_t;
    static float value(std::uint16_t w) { return bf16_to_float(w); }
};

template <class Weight>
static float dot(int n, const std::byte* row, const float* x)
{
    float sums[kSums] = {};
    for (int i = 0; i < n; i += kSums) {
        const int count = n - i < kSums ? n - i : kSums;
        typename Weight::Stored w[kSums] = {};  // a tensor's bytes promise no alignment
        std::memcpy(w, row + std::size_t(i) * sizeof w[0], std::size_t(count) * sizeof w[0]);
        for (int j = 0; j < count; ++j)
            sums[j] += Weight::value(w[j]) * x[i + j];
    }
    for (int width = kSums / 2; width > 0; width /= 2)
        for (int j = 0; j < width; ++j)
            sums[j] += sums[j + width];
    return sums[0];
}

template <class Weight>
static void matmul(const MatMul& m)
{
    const std::size_t stride = std::size_t(m.n) * sizeof(typename Weight::Stored);
    for (int r = 0; r < m.rows; ++r)
        for (int t = 0; t < m.tokens; ++t) {
            const auto* x = reinterpret_cast<const float*>(m.x + std::size_t(t) * m.x_stride);
            m.out[std::size_t(t) * m.out_stride + std::size_t(r)] =
                dot<Weight>(m.n, m.weights + std::size_t(r) * stride, x);
        }
}

void matmul_f32(const MatMul& m)
{
    matmul<F32>(m);
}

void matmul_f16(const MatMul& m)
{
    matmul<F16>(m);
}

void matmul_bf16(const MatMul& m)
{
    matmul<BF16>(m);
}

}  // namespace kernels::scalar
