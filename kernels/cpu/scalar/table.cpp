#include "kernels/cpu/scalar/scalar.h"
#include "kernels/packed_types.h"

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
#define MATMUL_PACKED(Name, ...) matmul(TensorType::Name) = matmul_packed<Block##Name>;
    SPILLWAY_EACH_PACKED_TYPE(MATMUL_PACKED)
#undef MATMUL_PACKED

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
    t.load_kv = load_kv;
    t.attend_block = attend_block;
    t.merge_partial = merge_partial;
    return t;
}

}  // namespace kernels::scalar
