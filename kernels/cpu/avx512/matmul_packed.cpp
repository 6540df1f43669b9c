// Products of packed weights with 8-bit activations. Few tokens: row by row from memory. Many: 16 rows are unpacked
// side by side and serve every token. Both sum in the order of group_sums.h, so they give the same bits.
#include "kernels/cpu/avx512/panel_products.h"
#include "kernels/cpu/avx512/row_product.h"
#include "kernels/cpu/avx512/slots.h"
#include "kernels/packed_types.h"

namespace kernels::avx512 {

static constexpr int kFewTokens = 3;  // multiplying 16 rows with about this many tokens costs as much as unpacking them

template <class Format>
void fill_rows(const MatMul& m, int first_row, int rows, const Panel& panel)
{
    const std::ptrdiff_t stride = std::ptrdiff_t(m.n / 32 / Format::kGroups) * Format::kBytes;
    fill_panel<Format>(panel, m.weights + first_row * stride, stride, rows);
}

template <class Format>
void matmul_packed(const MatMul& m)
{
    if (m.tokens > kFewTokens)
        return product_by_panels<TileKind<Format>>(m, fill_rows<Format>);
    switch (m.tokens) {
    case 3:
        return product_by_rows<Format, 3>(m);
    case 2:
        return product_by_rows<Format, 2>(m);
    case 1:
        return product_by_rows<Format, 1>(m);
    default:
        return;
    }
}

#define INSTANTIATE(Name, ...)                                                                                         \
    template void matmul_packed<Name>(const MatMul&);                                                                  \
    template void fill_rows<Name>(const MatMul&, int, int, const Panel&);
SPILLWAY_EACH_PACKED_TYPE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace kernels::avx512
