// Reference product of packed weights with 8-bit activations. Within 16 weights the sum is an exact integer; scales
// are applied and summed in float, group after group, in an order that does not depend on other rows or tokens.
#include "kernels/cpu/scalar/formats.h"
#include "kernels/cpu/scalar/scalar.h"
#include "kernels/packed_types.h"

#include <algorithm>
#include <vector>

namespace kernels::scalar {

static constexpr int kTokensAtOnce = 8;  // tokens that an unpacked group is multiplied with

static int dot16(const std::int8_t* w, const std::int8_t* x)
{
    int sum = 0;
    for (int i = 0; i < 16; ++i)
        sum += int(w[i]) * int(x[i]);
    return sum;
}

static float group_product(const Group32& w, const Q8Row& x, int group)
{
    const std::int8_t* q = x.q + std::ptrdiff_t(group) * 32;
    float sum = 0.0f;
    for (int h = 0; h < 2; ++h) {
        sum += w.scale[h] * x.scale[group] * float(dot16(w.q + 16 * h, q + 16 * h));
        sum += w.offset[h] * x.sum16[2 * group + h];
    }
    return sum;
}

template <class Block>
static void row_product(const MatMul& m, const std::byte* row, const Q8Row* x, int tokens, float* sums)
{
    for (int group = 0; group < m.n / 32; ++group) {
        Group32 w;
        unpack_group<Block>(row, group, w);
        for (int t = 0; t < tokens; ++t)
            sums[t] += group_product(w, x[t], group);
    }
}

template <class Block>
void matmul_packed(const MatMul& m)
{
    const std::size_t stride = std::size_t(m.n / 32 / kBlockGroups<Block>) * sizeof(Block);
    for (int first = 0; first < m.tokens; first += kTokensAtOnce) {
        const int tokens = std::min(kTokensAtOnce, m.tokens - first);
        std::vector<Q8Row> x;
        for (int t = 0; t < tokens; ++t)
            x.emplace_back(m.x + std::size_t(first + t) * m.x_stride, m.n);
        for (int r = 0; r < m.rows; ++r) {
            float sums[kTokensAtOnce] = {};
            row_product<Block>(m, m.weights + std::size_t(r) * stride, x.data(), tokens, sums);
            for (int t = 0; t < tokens; ++t)
                m.out[std::size_t(first + t) * m.out_stride + std::size_t(r)] = sums[t];
        }
    }
}

#define MATMUL_PACKED(Name, ...) template void matmul_packed<Block##Name>(const MatMul&);
SPILLWAY_EACH_PACKED_TYPE(MATMUL_PACKED)
#undef MATMUL_PACKED

}  // namespace kernels::scalar
