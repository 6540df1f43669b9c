// Panel holds eight rows unpacked side by side, for products with many tokens: a register holds four weights of each of
// the 8 rows, so that a token's four activations are broadcast and no sum runs across lanes.
#pragma once

#include "kernels/cpu/avx2/formats.h"

namespace kernels::avx2 {

constexpr int kPanelRows = 8;
constexpr int kSums = 8;  // running sums; see packed_product.h

/// A panel of `groups` groups of 32.
struct Panel {
    int groups;
    int parts;  // scales a group: 1, or 2 where one covers 16 weights
    std::byte* base;

    std::byte* weights(int group) const { return base + std::ptrdiff_t(group) * 32 * kPanelRows; }
    float* scales(int group) const { return floats(0) + std::ptrdiff_t(group) * parts * kPanelRows; }
    float* offsets(int group) const { return floats(1) + std::ptrdiff_t(group) * parts * kPanelRows; }

    static std::size_t bytes(int groups, int parts)
    {
        return std::size_t(groups) * (32 + 2 * std::size_t(parts) * sizeof(float)) * kPanelRows;
    }

private:
    float* floats(int kind) const
    {
        return reinterpret_cast<float*>(base + std::ptrdiff_t(groups) * 32 * kPanelRows) +
               std::ptrdiff_t(kind) * groups * parts * kPanelRows;
    }
};

// 8 x 8 transposition of 32-bit lanes.
inline void transpose8(__m256i (&r)[8])
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

/// Unpacks `count` rows, at most 8; the panel's other rows repeat the last.
template <class Format>
void fill_panel(const Panel& panel, const std::byte* weights, std::ptrdiff_t stride, int count)
{
    constexpr std::ptrdiff_t kStep = 8 / Format::kGroups * Format::kBytes;
    Chunk256 rows[kPanelRows];
    for (int first = 0; first < panel.groups; first += 8) {
        const int groups = panel.groups - first < 8 ? panel.groups - first : 8;
        for (int i = 0; i < kPanelRows; ++i)
            Format::unpack(weights + stride * (i < count ? i : count - 1) + kStep * (first / 8), groups, rows[i]);
        for (int g = 0; g < groups; ++g) {
            __m256i r[8];
            for (int i = 0; i < kPanelRows; ++i)
                r[i] = load256(rows[i].q + 32 * g);
            transpose8(r);  // r[k]: weights 4 k .. 4 k + 3 of each row
            for (int k = 0; k < 8; ++k)
                store256(panel.weights(first + g) + 32 * k, r[k]);
            for (int part = 0; part < panel.parts; ++part)
                for (int i = 0; i < kPanelRows; ++i) {
                    panel.scales(first + g)[part * kPanelRows + i] = rows[i].scale[8 * part + g];
                    if constexpr (Format::kOffset)
                        panel.offsets(first + g)[part * kPanelRows + i] = rows[i].offset[8 * part + g];
                }
        }
    }
}

}  // namespace kernels::avx2
