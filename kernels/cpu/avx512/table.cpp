#include "kernels/cpu/avx512/avx512.h"
#include "kernels/cpu/avx512/formats.h"
#include "kernels/cpu/avx512/interleaved_blocks.h"
#include "kernels/cpu/avx512/interleaved_grids.h"
#include "kernels/cpu/avx512/interleaved_super_blocks.h"
#include "kernels/cpu/avx512/interleaved_ternary.h"
#include "kernels/cpu/avx512/slots.h"
#include "kernels/packed_types.h"

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
#define PACKED(Name, ...) packed.template operator()<Interleaved##Name>(TensorType::Name);
    SPILLWAY_EACH_PACKED_TYPE(PACKED)
#undef PACKED
    matmul(TensorType::F32) = matmul_f32;
    matmul(TensorType::F16) = matmul_f16;
    matmul(TensorType::BF16) = matmul_bf16;

    t.dequantize = dequantize;
    t.quantize_q8 = quantize_q8;
    t.rms_norm = rms_norm;
    t.l2_norm = l2_norm;
    t.layer_norm = layer_norm;
    t.add = add;
    t.rope = rope;
    t.silu_mul = silu_mul;
    t.gelu_mul = gelu_mul;
    t.swiglu_oai = swiglu_oai;
    t.sigmoid_mul = sigmoid_mul;
    t.relu_squared = relu_squared;
    t.linear_attention = linear_attention;
    t.short_convolution = short_convolution;
    t.store_kv = store_kv;
    t.attend_block = attend_block;
    t.merge_partial = merge_partial;
    return t;
}

}  // namespace kernels::avx512
