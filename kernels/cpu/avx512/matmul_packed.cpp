// Products of packed weights with 8-bit activations. Few tokens: row by row from memory. Many: 16 rows are unpacked
// side by side and serve every token. Both sum in the order of group_sums.h, so they give the same bits.
#include "kernels/cpu/avx512/row_product.h"
#include "kernels/cpu/avx512/slots.h"
#include "kernels/cpu/avx512/tile.h"
#include "kernels/cpu/thread_scratch.h"

namespace kernels::avx512 {

static constexpr int kTileTokens = 6;  // two panels times six tokens, exact and float sums: 24 of 32 registers
static constexpr int kFewTokens = 3;   // unpacking 16 rows costs as much as multiplying them with about so many
static constexpr int kPanelsAtOnce = 2;

template <class Format, int Panels>
static void product_with_panels(const Panel (&panels)[Panels], int rows, const MatMul& m, float* out)
{
    using Kind = TileKind<Format>;
    const auto tile_of = [&]<int Tokens>(int first) {
        TokenRow x[Tokens];
        for (int t = 0; t < Tokens; ++t) {
            const Q8Row row(m.x + std::size_t(first + t) * m.x_stride, m.n);
            x[t] = {row.q, row.scale, Kind::kParts == 2 ? row.sum16 : row.sum32,
                    Kind::kParts == 2 ? row.shift16 : row.shift32};
        }
        tile<Kind::kParts, Kind::kShift, Kind::kOffset, Panels, Tokens>(
            panels, rows, x, out + std::size_t(first) * m.out_stride, m.out_stride);
    };
    int first = 0;
    for (; m.tokens - first >= kTileTokens; first += kTileTokens)
        tile_of.template operator()<kTileTokens>(first);
    switch (m.tokens - first) {
    case 5:
        return tile_of.template operator()<5>(first);
    case 4:
        return tile_of.template operator()<4>(first);
    case 3:
        return tile_of.template operator()<3>(first);
    case 2:
        return tile_of.template operator()<2>(first);
    case 1:
        return tile_of.template operator()<1>(first);
    default:
        return;
    }
}

template <class Format>
static void product_by_panels(const MatMul& m)
{
    const PanelShape shape{m.n / 32, TileKind<Format>::kParts, Format::kOffset};
    const std::size_t panel_bytes = (shape.bytes() + 63) / 64 * 64;
    std::byte* scratch = thread_scratch(panel_bytes * kPanelsAtOnce);
    const Panel panels[kPanelsAtOnce] = {{shape, scratch}, {shape, scratch + panel_bytes}};
    const Panel one[1] = {panels[0]};
    const std::ptrdiff_t stride = std::ptrdiff_t(shape.groups / Format::kGroups) * Format::kBytes;

    for (int r = 0; r < m.rows; r += kPanelsAtOnce * kPanelRows) {
        const int rows = m.rows - r < kPanelsAtOnce * kPanelRows ? m.rows - r : kPanelsAtOnce * kPanelRows;
        const std::byte* weights = m.weights + r * stride;
        fill_panel<Format>(panels[0], weights, stride, rows < kPanelRows ? rows : kPanelRows);
        if (rows > kPanelRows) {
            fill_panel<Format>(panels[1], weights + kPanelRows * stride, stride, rows - kPanelRows);
            product_with_panels<Format>(panels, rows, m, m.out + r);
        } else {
            product_with_panels<Format>(one, rows, m, m.out + r);
        }
    }
}

template <class Format>
void matmul_packed(const MatMul& m)
{
    if (m.tokens > kFewTokens)
        return product_by_panels<Format>(m);
    switch (m.tokens) {
    case 3:
        return product_by_rows<Format, 3>(m, 0);
    case 2:
        return product_by_rows<Format, 2>(m, 0);
    case 1:
        return product_by_rows<Format, 1>(m, 0);
    default:
        return;
    }
}

template void matmul_packed<Q4_0>(const MatMul&);
template void matmul_packed<Q4_1>(const MatMul&);
template void matmul_packed<Q5_0>(const MatMul&);
template void matmul_packed<Q5_1>(const MatMul&);
template void matmul_packed<Q8_0>(const MatMul&);
template void matmul_packed<Q2_K>(const MatMul&);
template void matmul_packed<Q3_K>(const MatMul&);
template void matmul_packed<Q4_K>(const MatMul&);
template void matmul_packed<Q5_K>(const MatMul&);
template void matmul_packed<Q6_K>(const MatMul&);
template void matmul_packed<IQ3_S>(const MatMul&);
template void matmul_packed<IQ4_NL>(const MatMul&);
template void matmul_packed<IQ4_XS>(const MatMul&);
template void matmul_packed<MXFP4>(const MatMul&);

}  // namespace kernels::avx512
