#include "kernels/cpu/avx512/avx512.h"
#include "kernels/cpu/avx512/formats.h"
#include "kernels/cpu/avx512/interleaved_formats.h"
#include "kernels/cpu/avx512/slots.h"

namespace kernels::avx512 {

CpuKernels improve(const CpuKernels& base)
{
    CpuKernels t = base;
    t.name = "avx512";

    auto* matmul = t.matmul.data();
    matmul[int(TensorType::Q4_0)] = matmul_packed<Q4_0>;
    matmul[int(TensorType::Q4_1)] = matmul_packed<Q4_1>;
    matmul[int(TensorType::Q5_0)] = matmul_packed<Q5_0>;
    matmul[int(TensorType::Q5_1)] = matmul_packed<Q5_1>;
    matmul[int(TensorType::Q8_0)] = matmul_packed<Q8_0>;
    matmul[int(TensorType::Q2_K)] = matmul_packed<Q2_K>;
    matmul[int(TensorType::Q3_K)] = matmul_packed<Q3_K>;
    matmul[int(TensorType::Q4_K)] = matmul_packed<Q4_K>;
    matmul[int(TensorType::Q5_K)] = matmul_packed<Q5_K>;
    matmul[int(TensorType::Q6_K)] = matmul_packed<Q6_K>;
    matmul[int(TensorType::IQ3_S)] = matmul_packed<IQ3_S>;
    matmul[int(TensorType::IQ4_NL)] = matmul_packed<IQ4_NL>;
    matmul[int(TensorType::IQ4_XS)] = matmul_packed<IQ4_XS>;
    matmul[int(TensorType::MXFP4)] = matmul_packed<MXFP4>;
    matmul[int(TensorType::F32)] = matmul_f32;
    matmul[int(TensorType::F16)] = matmul_f16;
    matmul[int(TensorType::BF16)] = matmul_bf16;

    const auto interleaved = [&t]<class Format>(TensorType type) {
        t.interleave[std::size_t(type)] = interleave<Format>;
        t.matmul_interleaved[std::size_t(type)] = matmul_interleaved<Format>;
    };
    interleaved.template operator()<InterleavedQ4_0>(TensorType::Q4_0);
    interleaved.template operator()<InterleavedQ4_1>(TensorType::Q4_1);
    interleaved.template operator()<InterleavedQ5_0>(TensorType::Q5_0);
    interleaved.template operator()<InterleavedQ5_1>(TensorType::Q5_1);
    interleaved.template operator()<InterleavedQ8_0>(TensorType::Q8_0);
    interleaved.template operator()<InterleavedQ2_K>(TensorType::Q2_K);
    interleaved.template operator()<InterleavedQ3_K>(TensorType::Q3_K);
    interleaved.template operator()<InterleavedQ4_K>(TensorType::Q4_K);
    interleaved.template operator()<InterleavedQ5_K>(TensorType::Q5_K);
    interleaved.template operator()<InterleavedQ6_K>(TensorType::Q6_K);
    interleaved.template operator()<InterleavedIQ4_NL>(TensorType::IQ4_NL);
    interleaved.template operator()<InterleavedIQ4_XS>(TensorType::IQ4_XS);
    interleaved.template operator()<InterleavedMXFP4>(TensorType::MXFP4);

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
