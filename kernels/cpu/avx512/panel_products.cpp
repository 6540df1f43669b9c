#include "kernels/cpu/avx512/panel_products.h"

#include "kernels/cpu/avx512/formats.h"
#include "kernels/cpu/thread_scratch.h"

namespace kernels::avx512 {

static constexpr int kTileTokens = 6;  // two panels times six tokens, exact and float sums: 24 of 32 registers
static constexpr int kPanelsAtOnce = 2;

template <class Kind, int Panels>
static void product_with_panels(const Panel (&panels)[Panels], int rows, const MatMul& m, float* out)
{
    const auto tile_of = [&]<int Tokens>(int first) {
        TokenRow x[Tokens];
        for (int t = 0; t < Tokens; ++t)
            x[t] = token_row<Kind>(m, first + t);
        tile<Kind::kParts, Kind::kShift, Kind::kOffset, Panels, Tokens>(
            panels, rows, x, out + std::size_t(first) * m.out_stride, m.out_stride);
    };
    for_token_runs<kTileTokens>(m.tokens, tile_of);
}

template <class Kind>
void product_with_panel(const Panel& panel, int rows, const MatMul& m, float* out)
{
    const Panel one[1] = {panel};
    product_with_panels<Kind>(one, rows, m, out);
}

template <class Kind>
void product_by_panels(const MatMul& m, FillPanel* fill)
{
    const PanelShape shape{m.n / 32, Kind::kParts, Kind::kOffset};
    const std::size_t panel_bytes = (shape.bytes() + 63) / 64 * 64;
    std::byte* scratch = thread_scratch(panel_bytes * kPanelsAtOnce);
    const Panel panels[kPanelsAtOnce] = {{shape, scratch}, {shape, scratch + panel_bytes}};

    for (int r = 0; r < m.rows; r += kPanelsAtOnce * kPanelRows) {
        const int rows = m.rows - r < kPanelsAtOnce * kPanelRows ? m.rows - r : kPanelsAtOnce * kPanelRows;
        fill(m, r, rows < kPanelRows ? rows : kPanelRows, panels[0]);
        if (rows > kPanelRows) {
            fill(m, r + kPanelRows, rows - kPanelRows, panels[1]);
            product_with_panels<Kind>(panels, rows, m, m.out + r);
        } else {
            product_with_panel<Kind>(panels[0], rows, m, m.out + r);
        }
    }
}

// The kinds that formats have.
#define INSTANTIATE(Format)                                                                                            \
    template void product_by_panels<TileKind<Format>>(const MatMul&, FillPanel*);                                      \
    template void product_with_panel<TileKind<Format>>(const Panel&, int, const MatMul&, float*);
INSTANTIATE(Q4_0)
INSTANTIATE(Q4_1)
INSTANTIATE(Q2_K)
INSTANTIATE(Q3_K)
#undef INSTANTIATE

}  // namespace kernels::avx512
