#include "kernels/cpu/avx2/grid_formats.h"
#include "kernels/cpu/avx2/panel.h"
#include "kernels/cpu/avx2/ternary_formats.h"
#include "kernels/packed_types.h"

namespace kernels::avx2 {

// 8 x 8 transposition of 32-bit lanes.
static void transpose8(__m256i (&r)[8])
{
    __m256i t[8];
    for (int i = 0; i < 4; ++i) {
        t[2 * i] = _mm256_unpacklo_epi32(r[2 * i], r[2 * i + 1]);
        t[2 * i + 1] = _mm256_unpackhi_epi32(r[2 * i], r[2 * i + 1]);
    }
    for (int i = 0; i < 2; ++i) {  // in each 128-bit lane: column c of rows 4 i .. 4 i + 3
        r[4 * i] = _mm256_unpacklo_epi64(t[4 * i], t[4 * i + 2]);
        r[4 * i + 1] = _mm256_unpackhi_epi64(t[4 * i], t[4 * i + 2]);
        r[4 * i + 2] = _mm256_unpacklo_epi64(t[4 * i + 1], t[4 * i + 3]);
        r[4 * i + 3] = _mm256_unpackhi_epi64(t[4 * i + 1], t[4 * i + 3]);
    }
    for (int c = 0; c < 4; ++c) {
        t[c] = _mm256_permute2x128_si256(r[c], r[c + 4], 0x20);
        t[c + 4] = _mm256_permute2x128_si256(r[c], r[c + 4], 0x31);
    }
    for (int c = 0; c < 8; ++c)
        r[c] = t[c];
}

// Puts one scale (or offset) of each of eight unpacked rows' first `groups` groups side by side.
static void transpose_scales(const Chunk256 (&rows)[kPanelRows], const float (Chunk256::*of)[16], int part, int groups,
                             const Panel& panel, float* to)
{
    __m256i r[8];
    for (int i = 0; i < kPanelRows; ++i)
        r[i] = load256(rows[i].*of + 8 * part);
    transpose8(r);
    for (int g = 0; g < 8; ++g)
        if (g < groups)
            store256(to + (g * panel.parts + part) * kPanelRows, r[g]);
}

/// Puts the first `groups` groups of eight unpacked rows side by side, as the panel's groups from `first` on. All
/// formats share it: it is called once for 2048 weights.
[[gnu::noinline, gnu::flatten]] static void put_groups(const Chunk256 (&rows)[kPanelRows], bool offset, int first,
                                                       int groups, const Panel& panel)
{
    for (int g = 0; g < groups; ++g) {
        __m256i r[8];
        for (int i = 0; i < kPanelRows; ++i)
            r[i] = load256(rows[i].q + 32 * g);
        transpose8(r);  // r[k]: weights 4 k .. 4 k + 3 of each row
        for (int k = 0; k < 8; ++k)
            store256(panel.weights(first + g) + 32 * k, r[k]);
    }
    for (int part = 0; part < panel.parts; ++part) {
        transpose_scales(rows, &Chunk256::scale, part, groups, panel, panel.scales(first));
        if (offset)
            transpose_scales(rows, &Chunk256::offset, part, groups, panel, panel.offsets(first));
    }
}

template <class Format>
void fill_panel(const std::byte* rows, std::ptrdiff_t stride, int count, const Panel& panel)
{
    constexpr std::ptrdiff_t kStep = 8 / Format::kGroups * Format::kBytes;
    Chunk256 unpacked[kPanelRows];
    for (int first = 0; first < panel.groups; first += 8, rows += kStep) {
        const int groups = panel.groups - first < 8 ? panel.groups - first : 8;
        for (int i = 0; i < kPanelRows; ++i)
            Format::unpack(rows + stride * (i < count ? i : count - 1), groups, unpacked[i]);
        put_groups(unpacked, Format::kOffset, first, groups, panel);
    }
}

#define FILL_PANEL(Name, ...) template void fill_panel<Name>(const std::byte*, std::ptrdiff_t, int, const Panel&);
SPILLWAY_EACH_PACKED_TYPE(FILL_PANEL)
#undef FILL_PANEL

}  // namespace kernels::avx2
