// Activations to 8 bits: the scalar table's bits, 32 values at a time.
#include "kernels/cpu/avx2/lanes.h"
#include "kernels/cpu/avx2/slots.h"
#include "kernels/cpu/q8_layout.h"

#include <cstring>

namespace kernels::avx2 {

static constexpr float kSmallestScaled = 1e-36f;  // as in the scalar table

// Values that are not a number become 0.
static __m256i rounded(__m256 scaled)
{
    const __m256 is_number = _mm256_cmp_ps(scaled, scaled, _CMP_ORD_Q);
    return _mm256_and_si256(_mm256_cvtps_epi32(scaled), _mm256_castps_si256(is_number));
}

template <class Value>
static void put(std::byte* at, int index, Value value)
{
    std::memcpy(at + std::size_t(index) * sizeof value, &value, sizeof value);
}

static int sum_of_lanes(__m256i x)
{
    const __m128i four = _mm_add_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
    const __m128i two = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 0xb1)));
}

void quantize_q8(int n, const float* x, std::byte* row)
{
    const Q8Layout at(n);
    for (int group = 0; group < n / 32; ++group, x += 32) {
        __m256 values[4];
        __m256 seen = _mm256_setzero_ps();
        for (int i = 0; i < 4; ++i) {
            values[i] = _mm256_loadu_ps(x + kLanes * i);
            // max gives its second operand where one is no number: such values are passed over
            seen = _mm256_max_ps(abs_of(values[i]), seen);
        }
        const float largest = max_of(seen);
        const float inverse = largest > kSmallestScaled ? 127.0f / largest : 0.0f;
        const float scale = largest > kSmallestScaled ? largest / 127.0f : 0.0f;

        __m256i q[4];
        for (int i = 0; i < 4; ++i)
            q[i] = rounded(_mm256_mul_ps(values[i], _mm256_set1_ps(inverse)));
        // Packing works within 128-bit lanes; the permutation puts the groups of four bytes back in order.
        const __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(q[0], q[1]), _mm256_packs_epi32(q[2], q[3]));
        const __m256i in_order = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(row + std::size_t(group) * 32), in_order);

        const int sums[2] = {sum_of_lanes(_mm256_add_epi32(q[0], q[1])), sum_of_lanes(_mm256_add_epi32(q[2], q[3]))};
        for (int h = 0; h < 2; ++h) {
            put(row + at.sum16, 2 * group + h, scale * float(sums[h]));
            put(row + at.shift16, 2 * group + h, -128 * sums[h]);
        }
        put(row + at.scale, group, scale);
        put(row + at.sum32, group, scale * float(sums[0] + sums[1]));
        put(row + at.shift32, group, -128 * (sums[0] + sums[1]));
    }
}

}  // namespace kernels::avx2
