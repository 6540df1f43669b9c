// Multiplies weights with many tokens: 16 rows are unpacked side by side, as for AVX-512, and a tile of 16 tokens is
// multiplied with them, a group of 32 weights at a time, since every group has a scale. Tokens that do not fill a tile
// are multiplied as for AVX-512. All are summed in the order of avx512/group_sums.h, so the bits are those of AVX-512.
#pragma once

#include "kernels/cpu/amx/tiles.h"
#include "kernels/cpu/avx512/panel_products.h"
#include "kernels/cpu/thread_scratch.h"

namespace kernels::amx {

using avx512::kPanelRows;
using avx512::kSums;
using avx512::Panel;
using avx512::PanelShape;
static_assert(kTileRows == kPanelRows);

/// Computes running sum `sum` (groups sum, sum + 8, ...) of every row and token.
template <class Kind, class Tiles>
void running_sum(const Tiles& tiles, const Panel& panel, const TokenRow (&x)[kTileTokens], std::size_t x_stride,
                 int sum, float (&out)[kTileTokens][kPanelRows])
{
    constexpr int kSteps = 8 / Kind::kParts;
    __m512 sums[kTileTokens];
    for (__m512& of_token : sums)
        of_token = _mm512_setzero_ps();
    for (int group = sum, slot = panel.shape.slot(sum); group < panel.shape.groups; group += kSums, ++slot) {
        for (int part = 0; part < Kind::kParts; ++part) {
            const int x_part = group * Kind::kParts + part;
            alignas(64) std::int32_t exact[kTileTokens][kTileRows];
            tiles.template multiply<kSteps>(x[0].q + std::ptrdiff_t(group) * 32 + 16 * part, x_stride,
                                            panel.weights(slot) + 64 * kSteps * part, exact);
            const __m512 scale = _mm512_loadu_ps(panel.scales(slot) + part * kPanelRows);
#pragma GCC unroll 16
            for (int t = 0; t < kTileTokens; ++t) {
                __m512i products = _mm512_load_si512(exact[t]);
                if constexpr (Kind::kShift)
                    products = _mm512_add_epi32(products, _mm512_set1_epi32(x[t].shift[x_part]));
                sums[t] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(products),
                                          _mm512_mul_ps(scale, _mm512_set1_ps(x[t].scale[group])), sums[t]);
            }
        }
        if constexpr (Kind::kOffset)
            for (int part = 0; part < Kind::kParts; ++part) {
                const __m512 offset = _mm512_loadu_ps(panel.offsets(slot) + part * kPanelRows);
#pragma GCC unroll 16
                for (int t = 0; t < kTileTokens; ++t)
                    sums[t] = _mm512_fmadd_ps(offset, _mm512_set1_ps(x[t].sum[group * Kind::kParts + part]), sums[t]);
            }
    }
    for (int t = 0; t < kTileTokens; ++t)
        _mm512_storeu_ps(out[t], sums[t]);
}

/// Sets out[t * out_stride + r] for 16 tokens from `first` on and the first `rows` rows of the panel.
template <class Kind, class Tiles>
void token_tile(const Tiles& tiles, const Panel& panel, int rows, const MatMul& m, int first, float* out)
{
    TokenRow x[kTileTokens];
    for (int t = 0; t < kTileTokens; ++t)
        x[t] = token_row<Kind>(m, first + t);
    float sums[kSums][1][kTileTokens][kPanelRows];
    for (int s = 0; s < kSums; ++s)
        running_sum<Kind>(tiles, panel, x, m.x_stride, s, sums[s][0]);
    avx512::store_joined(sums, rows, out + std::size_t(first) * m.out_stride, m.out_stride);
}

/// Multiplies at least 16 tokens.
template <class Kind, class Tiles>
void product_by_tiles(const MatMul& m, avx512::FillPanel* fill)
{
    const PanelShape shape{m.n / 32, Kind::kParts, Kind::kOffset};
    const Panel panel{shape, thread_scratch(shape.bytes())};
    const int in_tiles = m.tokens / kTileTokens * kTileTokens;
    MatMul rest = m;
    rest.tokens -= in_tiles;
    rest.x += std::size_t(in_tiles) * m.x_stride;

    const Tiles tiles;
    for (int r = 0; r < m.rows; r += kPanelRows) {
        const int rows = m.rows - r < kPanelRows ? m.rows - r : kPanelRows;
        fill(m, r, rows, panel);
        for (int t = 0; t < in_tiles; t += kTileTokens)
            token_tile<Kind>(tiles, panel, rows, m, t, m.out + r);
        avx512::product_with_panel<Kind>(panel, rows, rest, m.out + std::size_t(in_tiles) * m.out_stride + r);
    }
}

}  // namespace kernels::amx
