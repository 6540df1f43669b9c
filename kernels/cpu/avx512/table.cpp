#include "kernels/cpu/avx512/avx512.h"
#include "kernels/cpu/avx512/formats.h"
#include "kernels/cpu/avx512/interleaved_blocks.h"
#include "kernels/cpu/avx512/interleaved_grids.h"
#include "kernels/cpu/avx512/interleaved_super_blocks.h"
#include "kernels/cpu/avx512/interleaved_ternary.h"
#include "kernels/cpu/avx512/slots.h"

namespace kernels::avx512 {

CpuKernels improve(const CpuKernels& base)
{
    CpuKernels t = base;
    t.name = "avx512";

    const auto matmul = [&t](TensorType type) -> auto&
    {
        return t.matmul[std::size_t(type)];
    };
    const auto packed = [&]<class Interleaved>(TensorType type) {
        matmul(type) = matmul_packed<typename Interleaved::Rows>;
        t.interleave[std::size_t(type)] = interleave<Interleaved>;
        t.matmul_interleaved[std::size_t(type)] = matmul_interleaved<Interleaved>;
    };
    packed.template operator()<InterleavedQ4_0>(TensorType::Q4_0);
    packed.template operator()<InterleavedQ4_1>(TensorType::Q4_1);
    packed.template operator()<InterleavedQ5_0>(TensorType::Q5_0);
    packed.template operator()<InterleavedQ5_1>(TensorType::Q5_1);
    packed.template operator()<InterleavedQ8_0>(TensorType::Q8_0);
    packed.template operator()<InterleavedQ2_K>(TensorType::Q2_K);
    packed.template operator()<InterleavedQ3_K>(TensorType::Q3_K);
    packed.template operator()<InterleavedQ4_K>(TensorType::Q4_K);
    packed.template operator()<InterleavedQ5_K>(TensorType::Q5_K);
    packed.template operator()<InterleavedQ6_K>(TensorType::Q6_K);
    packed.template operator()<InterleavedIQ4_NL>(TensorType::IQ4_NL);
    packed.template operator()<InterleavedIQ4_XS>(TensorType::IQ4_XS);
    packed.template operator()<InterleavedMXFP4>(TensorType::MXFP4);
    packed.template operator()<InterleavedIQ2_XXS>(TensorType::IQ2_XXS);
    packed.template operator()<InterleavedIQ2_XS>(TensorType::IQ2_XS);
    packed.template operator()<InterleavedIQ2_S>(TensorType::IQ2_S);
    packed.template operator()<InterleavedIQ3_XXS>(TensorType::IQ3_XXS);
    packed.template operator()<InterleavedIQ3_S>(TensorType::IQ3_S);
    packed.template operator()<InterleavedIQ1_S>(TensorType::IQ1_S);
    packed.template operator()<InterleavedIQ1_M>(TensorType::IQ1_M);
    packed.template operator()<InterleavedTQ1_0>(TensorType::TQ1_0);
    packed.template operator()<InterleavedTQ2_0>(TensorType::TQ2_0);
    packed.template operator()<InterleavedNVFP4>(TensorType::NVFP4);
    matmul(TensorType::F32) = matmul_f32;
    matmul(TensorType::F16) = matmul_f16;
    matmul(TensorType::BF16) = matmul_bf16;

    t.dequantize = dequantize;
    t.quantize_q8 = quantize_q8;
    t.rms_norm = rms_norm;
    t.add = add;
    t.rope = rope;
    t.silu_mul = silu_mul;
    t.gelu_mul = gelu_mul;
    t.swiglu_oai = swiglu_oai;
    t.store_kv = store_kv;
    t.attend_block = attend_block;
    t.merge_partial = merge_partial;
    return t;
}

}  // namespace kernels::avx512
