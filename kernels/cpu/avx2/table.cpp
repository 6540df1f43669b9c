#include "kernels/cpu/avx2/avx2.h"
#include "kernels/cpu/avx2/byte_products.h"
#include "kernels/cpu/avx2/packed_slots.h"

namespace kernels::avx2 {

// What stays scalar runs once a token, not once a weight: dequantize (embeddings) and store_kv; or when
// the user asks for it: load_kv.
CpuKernels improve(const CpuKernels& base)
{
    CpuKernels t = base;
    t.name = "avx2";

    auto* matmul = t.matmul.data();
    matmul[int(TensorType::F32)] = matmul_f32;
    matmul[int(TensorType::F16)] = matmul_f16;
    matmul[int(TensorType::BF16)] = matmul_bf16;
    use_packed_products<PairProducts>(t);

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
    t.attend_block = attend_block;
    t.merge_partial = merge_partial;
    return t;
}

}  // namespace kernels::avx2
