// Products of packed weights with 8-bit activations. Few tokens: row by row from memory. Many: 16 rows are unpacked
// side by side and serve every token. Both sum in the order of group_sums.h, so they give the same bits.
#include "kernels/cpu/avx512/panel_products.h"
#include "kernels/cpu/avx512/row_product.h"
#include "kernels/cpu/avx512/slots.h"

namespace kernels::avx512 {

static constexpr int kFewTokens = 3;  // unpacking 16 rows costs as much as multiplying them with about so many

template <class Format>
void matmul_packed(const MatMul& m)
{
    if (m.tokens > kFewTokens) {
        const std::ptrdiff_t stride = std::ptrdiff_t(m.n / 32 / Format::kGroups) * Format::kBytes;
        return product_by_panels<Format>(m, [&](const Panel& panel, int first_row, int rows) {
            fill_panel<Format>(panel, m.weights + first_row * stride, stride, rows);
        });
    }
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
template void matmul_packed<IQ2_XXS>(const MatMul&);
template void matmul_packed<IQ2_XS>(const MatMul&);
template void matmul_packed<IQ2_S>(const MatMul&);
template void matmul_packed<IQ3_XXS>(const MatMul&);
template void matmul_packed<IQ1_S>(const MatMul&);
template void matmul_packed<IQ1_M>(const MatMul&);
template void matmul_packed<TQ1_0>(const MatMul&);
template void matmul_packed<TQ2_0>(const MatMul&);
template void matmul_packed<NVFP4>(const MatMul&);

}  // namespace kernels::avx512
