// Activations to 8 bits: the scalar table's bits, 32 values at a time.
#include "kernels/cpu/avx512/lanes.h"
#include "kernels/cpu/avx512/slots.h"
#include "kernels/cpu/q8_layout.h"

#include <cstring>

namespace kernels::avx512 {

static constexpr float kSmallestScaled = 1e-36f;  // as in the scalar table

// Values that are not a number become 0.
static __m512i rounded(__m512 scaled)
{
    return _mm512_maskz_cvtps_epi32(_mm512_cmp_ps_mask(scaled, scaled, _CMP_ORD_Q), scaled);
}

template <class Value>
static void put(std::byte* at, int index, Value value)
{
    std::memcpy(at + std::size_t(index) * sizeof value, &value, sizeof value);
}

void quantize_q8(int n, const float* x, std::byte* row)
{
    const Q8Layout at(n);
    for (int group = 0; group < n / 32; ++group) {
        const __m512 a = _mm512_loadu_ps(x + std::ptrdiff_t(group) * 32);
        const __m512 b = _mm512_loadu_ps(x + std::ptrdiff_t(group) * 32 + 16);
        // max gives its second operand where one is no number: such values are passed over
        const __m512 seen = _mm512_max_ps(_mm512_abs_ps(a), _mm512_setzero_ps());
        const float largest = _mm512_reduce_max_ps(_mm512_max_ps(_mm512_abs_ps(b), seen));
        const float inverse = largest > kSmallestScaled ? 127.0f / largest : 0.0f;
        const float scale = largest > kSmallestScaled ? largest / 127.0f : 0.0f;

        const __m512i q[2] = {rounded(_mm512_mul_ps(a, _mm512_set1_ps(inverse))),
                              rounded(_mm512_mul_ps(b, _mm512_set1_ps(inverse)))};
        int sums[2];
        for (int h = 0; h < 2; ++h) {
            _mm_storeu_si128(reinterpret_cast<__m128i*>(row + group * 32 + 16 * h), _mm512_cvtepi32_epi8(q[h]));
            sums[h] = _mm512_reduce_add_epi32(q[h]);
            put(row + at.sum16, 2 * group + h, scale * float(sums[h]));
            put(row + at.shift16, 2 * group + h, -128 * sums[h]);
        }
        put(row + at.scale, group, scale);
        put(row + at.sum32, group, scale * float(sums[0] + sums[1]));
        put(row + at.shift32, group, -128 * (sums[0] + sums[1]));
    }
}

}  // namespace kernels::avx512
