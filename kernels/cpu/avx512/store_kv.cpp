// Writes one token's keys and values into a KV block, bit for bit as the scalar table does.
#include "kernels/cpu/avx512/lanes.h"
#include "kernels/cpu/avx512/slots.h"

#include <cstring>

namespace kernels::avx512 {

namespace {

struct Scaling {
    float scale, inverse;
};

Scaling scaling_of(int dim, const float* x)
{
    __m512 largest_lanes = _mm512_setzero_ps();
    for_lanes(dim, [&](int d, __mmask16 lanes) {
        largest_lanes = _mm512_max_ps(_mm512_abs_ps(_mm512_maskz_loadu_ps(lanes, x + d)), largest_lanes);
    });
    const float largest = _mm512_reduce_max_ps(largest_lanes);
    return largest > 1e-36f ? Scaling{largest / 127.0f, 127.0f / largest} : Scaling{0.0f, 0.0f};
}

__m128i to_bytes(__m512 x, float inverse)
{
    const __m512 scaled = _mm512_mul_ps(x, _mm512_set1_ps(inverse));
    return _mm512_cvtepi32_epi8(_mm512_maskz_cvtps_epi32(_mm512_cmp_ps_mask(scaled, scaled, _CMP_ORD_Q), scaled));
}

__m256i to_halves(__m512 x)
{
    return _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

// Copies up to 16 values of one token to places of four values each, `step` bytes apart.
void spread_fours(const void* values, int value_bytes, int count, std::byte* to, std::size_t step)
{
    for (int i = 0; i * kKvGroupValues < count; ++i) {
        const auto four = std::size_t(kKvGroupValues * value_bytes);
        std::memcpy(to + std::size_t(i) * step, static_cast<const std::byte*>(values) + std::size_t(i) * four, four);
    }
}

void store_k(const KvBlockLayout& l, std::byte* block, int t, const float* k)
{
    const std::size_t value_bytes = kv_value_bytes(l.k_type);
    std::byte* to = block + l.k_index(t, 0) * value_bytes;
    const std::size_t step = kKvGroupTokens * kKvGroupValues * value_bytes;  // from four dimensions to the next four
    Scaling s{0.0f, 0.0f};
    if (l.k_type == KvType::Q8_0) {
        s = scaling_of(l.k_dim, k);
        std::memcpy(block + l.k_scales_offset() + std::size_t(t) * 4, &s.scale, 4);
    }
    for_lanes(l.k_dim, [&](int d, __mmask16 lanes) {
        const __m512 x = _mm512_maskz_loadu_ps(lanes, k + d);
        alignas(64) std::byte values[64];
        if (l.k_type == KvType::F32)
            _mm512_storeu_ps(values, x);
        else if (l.k_type == KvType::F16)
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(values), to_halves(x));
        else
            _mm_storeu_si128(reinterpret_cast<__m128i*>(values), to_bytes(x, s.inverse));
        spread_fours(values, int(value_bytes), l.k_dim - d < kLanes ? l.k_dim - d : kLanes,
                     to + std::size_t(d / kKvGroupValues) * step, step);
    });
}

void store_v(const KvBlockLayout& l, std::byte* block, int t, const float* v)
{
    std::byte* to = block + l.v_offset() + std::size_t(t) * std::size_t(l.v_dim) * kv_value_bytes(l.v_type);
    Scaling s{0.0f, 0.0f};
    if (l.v_type == KvType::Q8_0) {
        s = scaling_of(l.v_dim, v);
        std::memcpy(block + l.v_scales_offset() + std::size_t(t) * 4, &s.scale, 4);
    }
    for_lanes(l.v_dim, [&](int d, __mmask16 lanes) {
        const __m512 x = _mm512_maskz_loadu_ps(lanes, v + d);
        if (l.v_type == KvType::F32)
            _mm512_mask_storeu_ps(to + d * 4, lanes, x);
        else if (l.v_type == KvType::F16)
            _mm256_mask_storeu_epi16(to + d * 2, lanes, to_halves(x));
        else
            _mm_mask_storeu_epi8(to + d, lanes, to_bytes(x, s.inverse));
    });
}

}  // namespace

void store_kv(const KvBlockLayout& layout, std::byte* block, int t, const float* k, const float* v)
{
    store_k(layout, block, t, k);
    if (!layout.values_in_keys)
        store_v(layout, block, t, v);
}

}  // namespace kernels::avx512
