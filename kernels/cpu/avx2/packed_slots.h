// Fills a table's slots for products of packed weights, which AVX2 and AVX-VNNI share but for one instruction.
#pragma once

#include "kernels/cpu/avx2/formats.h"
#include "kernels/cpu/avx2/grid_formats.h"
#include "kernels/cpu/avx2/slots.h"
#include "kernels/cpu/avx2/ternary_formats.h"

namespace kernels::avx2 {

/// Every packed format's product, with bytes multiplied as Products says.
template <class Products>
void use_packed_products(CpuKernels& t)
{
    auto* matmul = t.matmul.data();
    matmul[int(TensorType::Q4_0)] = matmul_packed<Q4_0, Products>;
    matmul[int(TensorType::Q4_1)] = matmul_packed<Q4_1, Products>;
    matmul[int(TensorType::Q5_0)] = matmul_packed<Q5_0, Products>;
    matmul[int(TensorType::Q5_1)] = matmul_packed<Q5_1, Products>;
    matmul[int(TensorType::Q8_0)] = matmul_packed<Q8_0, Products>;
    matmul[int(TensorType::Q2_K)] = matmul_packed<Q2_K, Products>;
    matmul[int(TensorType::Q3_K)] = matmul_packed<Q3_K, Products>;
    matmul[int(TensorType::Q4_K)] = matmul_packed<Q4_K, Products>;
    matmul[int(TensorType::Q5_K)] = matmul_packed<Q5_K, Products>;
    matmul[int(TensorType::Q6_K)] = matmul_packed<Q6_K, Products>;
    matmul[int(TensorType::IQ3_S)] = matmul_packed<IQ3_S, Products>;
    matmul[int(TensorType::IQ4_NL)] = matmul_packed<IQ4_NL, Products>;
    matmul[int(TensorType::IQ4_XS)] = matmul_packed<IQ4_XS, Products>;
    matmul[int(TensorType::MXFP4)] = matmul_packed<MXFP4, Products>;
    matmul[int(TensorType::IQ2_XXS)] = matmul_packed<IQ2_XXS, Products>;
    matmul[int(TensorType::IQ2_XS)] = matmul_packed<IQ2_XS, Products>;
    matmul[int(TensorType::IQ2_S)] = matmul_packed<IQ2_S, Products>;
    matmul[int(TensorType::IQ3_XXS)] = matmul_packed<IQ3_XXS, Products>;
    matmul[int(TensorType::IQ1_S)] = matmul_packed<IQ1_S, Products>;
    matmul[int(TensorType::IQ1_M)] = matmul_packed<IQ1_M, Products>;
    matmul[int(TensorType::TQ1_0)] = matmul_packed<TQ1_0, Products>;
    matmul[int(TensorType::TQ2_0)] = matmul_packed<TQ2_0, Products>;
    matmul[int(TensorType::NVFP4)] = matmul_packed<NVFP4, Products>;
}

}  // namespace kernels::avx2
