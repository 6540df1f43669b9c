// Multiplies weights with many tokens: two panels at a time are filled and multiplied with every token.
#pragma once

#include "kernels/cpu/avx512/tile.h"
#include "kernels/cpu/thread_scratch.h"

namespace kernels::avx512 {

constexpr int kTileTokens = 6;  // two panels times six tokens, exact and float sums: 24 of 32 registers
constexpr int kPanelsAtOnce = 2;

template <class Format, int Panels>
void product_with_panels(const Panel (&panels)[Panels], int rows, const MatMul& m, float* out)
{
    using Kind = TileKind<Format>;
    const auto tile_of = [&]<int Tokens>(int first) {
        TokenRow x[Tokens];
        for (int t = 0; t < Tokens; ++t)
            x[t] = token_row<Format>(m, first + t);
        tile<Kind::kParts, Kind::kShift, Kind::kOffset, Panels, Tokens>(
            panels, rows, x, out + std::size_t(first) * m.out_stride, m.out_stride);
    };
    for_token_runs<kTileTokens>(m.tokens, tile_of);
}

/// Multiplies all rows with all tokens. fill(panel, first_row, rows) must write the panel of these rows, 16 at most.
template <class Format, class Fill>
void product_by_panels(const MatMul& m, const Fill& fill)
{
    const PanelShape shape{m.n / 32, TileKind<Format>::kParts, Format::kOffset};
    const std::size_t panel_bytes = (shape.bytes() + 63) / 64 * 64;
    std::byte* scratch = thread_scratch(panel_bytes * kPanelsAtOnce);
    const Panel panels[kPanelsAtOnce] = {{shape, scratch}, {shape, scratch + panel_bytes}};
    const Panel one[1] = {panels[0]};

    for (int r = 0; r < m.rows; r += kPanelsAtOnce * kPanelRows) {
        const int rows = m.rows - r < kPanelsAtOnce * kPanelRows ? m.rows - r : kPanelsAtOnce * kPanelRows;
        fill(panels[0], r, rows < kPanelRows ? rows : kPanelRows);
        if (rows > kPanelRows) {
            fill(panels[1], r + kPanelRows, rows - kPanelRows);
            product_with_panels<Format>(panels, rows, m, m.out + r);
        } else {
            product_with_panels<Format>(one, rows, m, m.out + r);
        }
    }
}

}  // namespace kernels::avx512
