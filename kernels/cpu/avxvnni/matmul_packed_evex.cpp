// The same as processors with AVX-512 make them, which may know the instruction in this form only.
#include "kernels/cpu/avx2/packed_product.h"

namespace kernels::avx2 {

template void matmul_packed<Q4_0, Avx512VnniProducts>(const MatMul&);
template void matmul_packed<Q4_1, Avx512VnniProducts>(const MatMul&);
template void matmul_packed<Q5_0, Avx512VnniProducts>(const MatMul&);
template void matmul_packed<Q5_1, Avx512VnniProducts>(const MatMul&);
template void matmul_packed<Q8_0, Avx512VnniProducts>(const MatMul&);
template void matmul_packed<Q2_K, Avx512VnniProducts>(const MatMul&);
template void matmul_packed<Q3_K, Avx512VnniProducts>(const MatMul&);
template void matmul_packed<Q4_K, Avx512VnniProducts>(const MatMul&);
template void matmul_packed<Q5_K, Avx512VnniProducts>(const MatMul&);
template void matmul_packed<Q6_K, Avx512VnniProducts>(const MatMul&);
template void matmul_packed<IQ3_S, Avx512VnniProducts>(const MatMul&);
template void matmul_packed<IQ4_NL, Avx512VnniProducts>(const MatMul&);
template void matmul_packed<IQ4_XS, Avx512VnniProducts>(const MatMul&);
template void matmul_packed<MXFP4, Avx512VnniProducts>(const MatMul&);
template void matmul_packed<IQ2_XXS, Avx512VnniProducts>(const MatMul&);
template void matmul_packed<IQ2_XS, Avx512VnniProducts>(const MatMul&);
template void matmul_packed<IQ2_S, Avx512VnniProducts>(const MatMul&);
template void matmul_packed<IQ3_XXS, Avx512VnniProducts>(const MatMul&);
template void matmul_packed<IQ1_S, Avx512VnniProducts>(const MatMul&);
template void matmul_packed<IQ1_M, Avx512VnniProducts>(const MatMul&);
template void matmul_packed<TQ1_0, Avx512VnniProducts>(const MatMul&);
template void matmul_packed<TQ2_0, Avx512VnniProducts>(const MatMul&);
template void matmul_packed<NVFP4, Avx512VnniProducts>(const MatMul&);

}  // namespace kernels::avx2
