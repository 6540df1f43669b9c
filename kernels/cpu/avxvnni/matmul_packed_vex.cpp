// The products of packed weights as processors with AVX-VNNI make them.
#include "kernels/cpu/avx2/packed_product.h"

namespace kernels::avx2 {

template void matmul_packed<Q4_0, VnniProducts>(const MatMul&);
template void matmul_packed<Q4_1, VnniProducts>(const MatMul&);
template void matmul_packed<Q5_0, VnniProducts>(const MatMul&);
template void matmul_packed<Q5_1, VnniProducts>(const MatMul&);
template void matmul_packed<Q8_0, VnniProducts>(const MatMul&);
template void matmul_packed<Q2_K, VnniProducts>(const MatMul&);
template void matmul_packed<Q3_K, VnniProducts>(const MatMul&);
template void matmul_packed<Q4_K, VnniProducts>(const MatMul&);
template void matmul_packed<Q5_K, VnniProducts>(const MatMul&);
template void matmul_packed<Q6_K, VnniProducts>(const MatMul&);
template void matmul_packed<IQ3_S, VnniProducts>(const MatMul&);
template void matmul_packed<IQ4_NL, VnniProducts>(const MatMul&);
template void matmul_packed<IQ4_XS, VnniProducts>(const MatMul&);
template void matmul_packed<MXFP4, VnniProducts>(const MatMul&);
template void matmul_packed<IQ2_XXS, VnniProducts>(const MatMul&);
template void matmul_packed<IQ2_XS, VnniProducts>(const MatMul&);
template void matmul_packed<IQ2_S, VnniProducts>(const MatMul&);
template void matmul_packed<IQ3_XXS, VnniProducts>(const MatMul&);
template void matmul_packed<IQ1_S, VnniProducts>(const MatMul&);
template void matmul_packed<IQ1_M, VnniProducts>(const MatMul&);
template void matmul_packed<TQ1_0, VnniProducts>(const MatMul&);
template void matmul_packed<TQ2_0, VnniProducts>(const MatMul&);
template void matmul_packed<NVFP4, VnniProducts>(const MatMul&);

}  // namespace kernels::avx2
