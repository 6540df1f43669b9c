// Panel holds sixteen rows unpacked side by side, for products with many tokens: a register holds four weights of each
// of the 16 rows, so that a token's four activations are broadcast and no sum runs across lanes.
#pragma once

#include "kernels/cpu/avx512/group_sums.h"
#include "kernels/cpu/avx512/lanes.h"
#include "kernels/cpu/avx512/row_product.h"
#include "kernels/cpu/avx512/transpose.h"

namespace kernels::avx512 {

constexpr int kPanelRows = 16;

/// Says where a panel of `groups` groups of 32 lies in memory. Groups are kept in the order in which they are summed:
/// all of running sum 0, then all of sum 1, and so on.
struct PanelShape {
    int groups;
    int parts;  // scales a group: 1, or 2 where one covers 16 weights
    bool offset;

    int turns() const { return (groups + kSums - 1) / kSums; }
    int slots() const { return turns() * kSums; }  // with gaps where groups is no multiple of eight
    int slot(int group) const { return group % kSums * turns() + group / kSums; }
    std::size_t scales_offset() const { return std::size_t(slots()) * 32 * kPanelRows; }
    std::size_t scale_bytes() const { return std::size_t(slots()) * std::size_t(parts) * kPanelRows * 4; }
    std::size_t bytes() const { return scales_offset() + scale_bytes() * (offset ? 2 : 1); }
};

struct Panel {
    PanelShape shape;
    std::byte* base;

    std::byte* weights(int slot) const { return base + std::size_t(slot) * 32 * kPanelRows; }
    float* scales(int slot) const
    {
        return reinterpret_cast<float*>(base + shape.scales_offset()) + slot * shape.parts * kPanelRows;
    }
    float* offsets(int slot) const
    {
        return reinterpret_cast<float*>(base + shape.scales_offset() + shape.scale_bytes()) +
               slot * shape.parts * kPanelRows;
    }
};

// Writes one lane-transposed scale (or offset) of eight groups: rows (16, 16) holds groups 0..7, then 8 more values.
[[gnu::noinline]] inline void put_scales(const Panel& panel, const float (&rows)[kPanelRows][16], int first_group,
                                         int groups, bool second_is_offset)
{
    __m512i r[16];
    for (int i = 0; i < 16; ++i)
        r[i] = _mm512_loadu_si512(rows[i]);
    transpose16(r);
    for (int g = 0; g < groups; ++g) {
        const int slot = panel.shape.slot(first_group + g);
        _mm512_storeu_si512(panel.scales(slot), r[g]);
        if (second_is_offset)
            _mm512_storeu_si512(panel.offsets(slot), r[8 + g]);
        else if (panel.shape.parts == 2)
            _mm512_storeu_si512(panel.scales(slot) + kPanelRows, r[8 + g]);
    }
}

[[gnu::noinline]] inline void put_half_offsets(const Panel& panel, const float (&rows)[kPanelRows][16], int first_group,
                                               int groups)
{
    __m512i r[16];
    for (int i = 0; i < 16; ++i)
        r[i] = _mm512_loadu_si512(rows[i]);
    transpose16(r);
    for (int g = 0; g < groups; ++g) {
        const int slot = panel.shape.slot(first_group + g);
        _mm512_storeu_si512(panel.offsets(slot), r[g]);
        _mm512_storeu_si512(panel.offsets(slot) + kPanelRows, r[8 + g]);
    }
}

/// Unpacks eight groups (or a tail of fewer) of 16 rows. Signed weights are stored as w + 128. Everything is inlined
/// but what puts scales, which all formats share.
template <class Format>
[[gnu::flatten]] void fill_chunk(const Panel& panel, const std::byte* const (&rows)[kPanelRows], std::ptrdiff_t offset,
                                 int first_group, int groups)
{
    std::uint8_t bytes[kPanelRows][256];
    float scales[kPanelRows][16];
    float offsets[kPanelRows][16];
    for (int i = 0; i < kPanelRows; ++i) {
        const Weights256 w = groups == 8 ? Format::load(rows[i] + offset) : load_tail<Format>(rows[i] + offset, groups);
        constexpr int kRest = Format::kBias == 0 ? 0 : 128 - Format::kBias;
        for (int j = 0; j < 4; ++j)
            _mm512_storeu_si512(bytes[i] + 64 * j, _mm512_add_epi8(w.q[j], _mm512_set1_epi8(char(kRest))));
        if constexpr (Format::kHalves) {
            _mm512_storeu_ps(scales[i], w.scale16);
            if constexpr (Format::kOffset)
                _mm512_storeu_ps(offsets[i], w.offset16);
        } else {
            _mm512_storeu_ps(scales[i], _mm512_insertf32x8(_mm512_castps256_ps512(w.scale), w.offset, 1));
        }
    }
    put_scales(panel, scales, first_group, groups, !Format::kHalves && Format::kOffset);
    if constexpr (Format::kHalves && Format::kOffset)
        put_half_offsets(panel, offsets, first_group, groups);

    for (int pair = 0; 2 * pair < groups; ++pair) {
        __m512i r[16];
        for (int i = 0; i < kPanelRows; ++i)
            r[i] = _mm512_loadu_si512(bytes[i] + 64 * pair);
        transpose16(r);  // r[k]: weights 4 k .. 4 k + 3 of each row; eight of them are a group
        for (int k = 0; k < 16 && 2 * pair + k / 8 < groups; ++k)
            _mm512_storeu_si512(panel.weights(panel.shape.slot(first_group + 2 * pair + k / 8)) + 64 * (k % 8), r[k]);
    }
}

/// Unpacks `count` rows, at most 16; the panel's other rows repeat the last.
template <class Format>
void fill_panel(const Panel& panel, const std::byte* weights, std::ptrdiff_t stride, int count)
{
    const std::byte* rows[kPanelRows];
    for (int i = 0; i < kPanelRows; ++i)
        rows[i] = weights + stride * (i < count ? i : count - 1);
    const int groups = panel.shape.groups;
    for (int g = 0; g < groups; g += 8)
        fill_chunk<Format>(panel, rows, kBytes256<Format> * (g / 8), g, groups - g < 8 ? groups - g : 8);
}

}  // namespace kernels::avx512
