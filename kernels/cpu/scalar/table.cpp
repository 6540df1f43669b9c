#include "kernels/cpu/scalar/scalar.h"

#include "kernels/blocks.h"

namespace kernels::scalar {

CpuKernels table()
{
    CpuKernels t{};
    t.name = "scalar";

    const auto matmul = [&t](TensorType type) -> auto&
    {
        return t.matmul[std::size_t(type)];
    };
    matmul(TensorType::F32) = matmul_f32;
    matmul(TensorType::F16) = matmul_f16;
    matmul(TensorType::BF16) = matmul_bf16;
    matmul(TensorType::Q4_0) = matmul_packed<BlockQ4_0>;
    matmul(TensorType::Q4_1) = matmul_packed<BlockQ4_1>;
    matmul(TensorType::Q5_0) = matmul_packed<BlockQ5_0>;
    matmul(TensorType::Q5_1) = matmul_packed<BlockQ5_1>;
    matmul(TensorType::Q8_0) = matmul_packed<BlockQ8_0>;
    matmul(TensorType::Q2_K) = matmul_packed<BlockQ2_K>;
    matmul(TensorType::Q3_K) = matmul_packed<BlockQ3_K>;
    matmul(TensorType::Q4_K) = matmul_packed<BlockQ4_K>;
    matmul(TensorType::Q5_K) = matmul_packed<BlockQ5_K>;
    matmul(TensorType::Q6_K) = matmul_packed<BlockQ6_K>;
    matmul(TensorType::IQ3_S) = matmul_packed<BlockIQ3_S>;
    matmul(TensorType::IQ4_NL) = matmul_packed<BlockIQ4_NL>;
    matmul(TensorType::IQ4_XS) = matmul_packed<BlockIQ4_XS>;
    matmul(TensorType::MXFP4) = matmul_packed<BlockMXFP4>;
    matmul(TensorType::IQ2_XXS) = matmul_packed<BlockIQ2_XXS>;
    matmul(TensorType::IQ2_XS) = matmul_packed<BlockIQ2_XS>;
    matmul(TensorType::IQ2_S) = matmul_packed<BlockIQ2_S>;
    matmul(TensorType::IQ3_XXS) = matmul_packed<BlockIQ3_XXS>;
    matmul(TensorType::IQ1_S) = matmul_packed<BlockIQ1_S>;
    matmul(TensorType::IQ1_M) = matmul_packed<BlockIQ1_M>;
    matmul(TensorType::TQ1_0) = matmul_packed<BlockTQ1_0>;
    matmul(TensorType::TQ2_0) = matmul_packed<BlockTQ2_0>;
    matmul(TensorType::NVFP4) = matmul_packed<BlockNVFP4>;

    t.dequantize = dequantize;
    t.quantize_q8 = quantize_q8;
    t.rms_norm = rms_norm;
    t.add = add;
    t.rope = rope;
    t.silu_mul = silu_mul;
    t.gelu_mul = gelu_mul;
    t.swiglu_oai = swiglu_oai;
    t.store_kv = store_kv;
    t.load_kv = load_kv;
    t.attend_block = attend_block;
    t.merge_partial = merge_partial;
    return t;
}

}  // namespace kernels::scalar
