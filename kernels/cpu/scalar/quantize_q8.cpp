// Activations to 8 bits, one float scale for 32 values. The largest magnitude becomes +-127; -128 is never used.
#include "kernels/cpu/q8_layout.h"
#include "kernels/cpu/scalar/scalar.h"

#include <cmath>
#include <cstring>

namespace kernels::scalar {

static constexpr float kSmallestScaled = 1e-36f;  // 127 / this is still finite; smaller values become zero

static void put(std::byte* at, int index, const void* value)
{
    std::memcpy(at + std::size_t(index) * 4, value, 4);
}

void quantize_q8(int n, const float* x, std::byte* row)
{
    const Q8Layout at(n);
    auto* q = reinterpret_cast<std::int8_t*>(row);
    for (int group = 0; group < n / 32; ++group, x += 32, q += 32) {
        float largest = 0.0f;
        for (int i = 0; i < 32; ++i)
            largest = std::fmax(largest, std::fabs(x[i]));
        const float inverse = largest > kSmallestScaled ? 127.0f / largest : 0.0f;
        const float scale = largest > kSmallestScaled ? largest / 127.0f : 0.0f;

        std::int32_t sums[2] = {};
        for (int i = 0; i < 32; ++i) {
            const float scaled = x[i] * inverse;
            q[i] = std::int8_t(std::isnan(scaled) ? 0 : std::lrint(scaled));
            sums[i / 16] += q[i];
        }
        put(row + at.scale, group, &scale);
        for (int h = 0; h < 2; ++h) {
            const float sum16 = scale * float(sums[h]);
            const std::int32_t shift16 = -128 * sums[h];
            put(row + at.sum16, 2 * group + h, &sum16);
            put(row + at.shift16, 2 * group + h, &shift16);
        }
        const float sum32 = scale * float(sums[0] + sums[1]);
        const std::int32_t shift32 = -128 * (sums[0] + sums[1]);
        put(row + at.sum32, group, &sum32);
        put(row + at.shift32, group, &shift32);
    }
}

}  // namespace kernels::scalar
