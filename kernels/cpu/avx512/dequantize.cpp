// Turns packed rows into floats, bit for bit as the scalar table does.
#include "kernels/cpu/avx512/lanes.h"
#include "kernels/cpu/avx512/row_product.h"
#include "kernels/cpu/avx512/slots.h"
#include "kernels/packed_types.h"

namespace kernels::avx512 {

// Returns the sixteen weights of half `half` of group `group` (of eight).
template <class Format>
static __m512 sixteen(const std::uint8_t* bytes, const float* scales, const float* offsets, int group, int half)
{
    const int part = Format::kHalves ? 8 * half + group : group;
    const __m512i unsigned_q = _mm512_cvtepu8_epi32(load128(bytes + 32 * group + 16 * half));
    const __m512 q = _mm512_cvtepi32_ps(_mm512_sub_epi32(unsigned_q, _mm512_set1_epi32(Format::kBias)));
    const __m512 scaled = _mm512_mul_ps(_mm512_set1_ps(scales[part]), q);
    return Format::kOffset ? _mm512_add_ps(scaled, _mm512_set1_ps(offsets[part])) : scaled;
}

template <class Format>
static void packed_to_float(int n, const std::byte* row, float* out)
{
    const int groups = n / 32;
    for (int first = 0; first < groups; first += 8, row += kBytes256<Format>) {
        const int count = groups - first < 8 ? groups - first : 8;
        const Weights256 w = count == 8 ? Format::load(row) : load_tail<Format>(row, count);
        std::uint8_t bytes[256];
        float scales[16];
        float offsets[16];
        for (int i = 0; i < 4; ++i)
            _mm512_storeu_si512(bytes + 64 * i, w.q[i]);
        if constexpr (Format::kHalves) {
            _mm512_storeu_ps(scales, w.scale16);
            _mm512_storeu_ps(offsets, w.offset16);
        } else {
            _mm256_storeu_ps(scales, w.scale);
            _mm256_storeu_ps(offsets, w.offset);
        }
        for (int g = 0; g < count; ++g, out += 32)
            for (int half = 0; half < 2; ++half)
                _mm512_storeu_ps(out + 16 * half, sixteen<Format>(bytes, scales, offsets, g, half));
    }
}

static void halves_to_float(int n, const std::byte* row, float* out)
{
    for_lanes(n, [&](int i, __mmask16 lanes) {
        _mm512_mask_storeu_ps(out + i, lanes,
                              _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(lanes, row + std::ptrdiff_t(i) * 2)));
    });
}

static void bfloats_to_float(int n, const std::byte* row, float* out)
{
    for_lanes(n, [&](int i, __mmask16 lanes) {
        const __m512i wide = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(lanes, row + std::ptrdiff_t(i) * 2));
        _mm512_mask_storeu_epi32(out + i, lanes, _mm512_slli_epi32(wide, 16));
    });
}

void dequantize(TensorType type, int n, const std::byte* row, float* out)
{
    switch (type) {
    case TensorType::F32:
        std::memcpy(out, row, std::size_t(n) * 4);
        return;
    case TensorType::F16:
        return halves_to_float(n, row, out);
    case TensorType::BF16:
        return bfloats_to_float(n, row, out);
#define PACKED_TO_FLOAT(Name, ...)                                                                                     \
    case TensorType::Name:                                                                                             \
        return packed_to_float<Name>(n, row, out);
        SPILLWAY_EACH_PACKED_TYPE(PACKED_TO_FLOAT)
#undef PACKED_TO_FLOAT
    }
}

}  // namespace kernels::avx512
