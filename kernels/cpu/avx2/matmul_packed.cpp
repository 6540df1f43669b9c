// The products of packed weights, with bytes multiplied by pairs.
#include "kernels/cpu/avx2/packed_product.h"

namespace kernels::avx2 {

template void matmul_packed<Q4_0, PairProducts>(const MatMul&);
template void matmul_packed<Q4_1, PairProducts>(const MatMul&);
template void matmul_packed<Q5_0, PairProducts>(const MatMul&);
template void matmul_packed<Q5_1, PairProducts>(const MatMul&);
template void matmul_packed<Q8_0, PairProducts>(const MatMul&);
template void matmul_packed<Q2_K, PairProducts>(const MatMul&);
template void matmul_packed<Q3_K, PairProducts>(const MatMul&);
template void matmul_packed<Q4_K, PairProducts>(const MatMul&);
template void matmul_packed<Q5_K, PairProducts>(const MatMul&);
template void matmul_packed<Q6_K, PairProducts>(const MatMul&);
template void matmul_packed<IQ3_S, PairProducts>(const MatMul&);
template void matmul_packed<IQ4_NL, PairProducts>(const MatMul&);
template void matmul_packed<IQ4_XS, PairProducts>(const MatMul&);
template void matmul_packed<MXFP4, PairProducts>(const MatMul&);
template void matmul_packed<IQ2_XXS, PairProducts>(const MatMul&);
template void matmul_packed<IQ2_XS, PairProducts>(const MatMul&);
template void matmul_packed<IQ2_S, PairProducts>(const MatMul&);
template void matmul_packed<IQ3_XXS, PairProducts>(const MatMul&);
template void matmul_packed<IQ1_S, PairProducts>(const MatMul&);
template void matmul_packed<IQ1_M, PairProducts>(const MatMul&);
template void matmul_packed<TQ1_0, PairProducts>(const MatMul&);
template void matmul_packed<TQ2_0, PairProducts>(const MatMul&);
template void matmul_packed<NVFP4, PairProducts>(const MatMul&);

}  // namespace kernels::avx2
