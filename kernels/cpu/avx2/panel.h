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

/// Unpacks `count` rows, at most 8, that are `stride` bytes apart; the panel's other rows repeat the last.
using FillPanel = void(const std::byte* rows, std::ptrdiff_t stride, int count, const Panel& panel);

template <class Format>
void fill_panel(const std::byte* rows, std::ptrdiff_t stride, int count, const Panel& panel);  // for every format

}  // namespace kernels::avx2
