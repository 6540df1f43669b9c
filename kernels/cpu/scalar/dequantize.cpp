// Packed rows to floats, for looking up embeddings and for checking products.
#include "kernels/cpu/scalar/formats.h"
#include "kernels/cpu/scalar/scalar.h"

namespace kernels::scalar {

template <class Block>
static void packed_to_float(int n, const std::byte* row, float* out)
{
    for (int group = 0; group < n / 32; ++group) {
        Group32 g;
        unpack_group<Block>(row, group, g);
        for (int i = 0; i < 32; ++i)
            out[32 * group + i] = g.scale[i / 16] * float(g.q[i]) + g.offset[i / 16];
    }
}

template <float (*value)(std::uint16_t)>
static void halves_to_float(int n, const std::byte* row, float* out)
{
    for (int i = 0; i < n; ++i) {
        std::uint16_t bits;
        std::memcpy(&bits, row + std::size_t(i) * 2, 2);
        out[i] = value(bits);
    }
}

void dequantize(TensorType type, int n, const std::byte* row, float* out)
{
    switch (type) {
    case TensorType::F32:
        std::memcpy(out, row, std::size_t(n) * 4);
        return;
    case TensorType::F16:
        return halves_to_float<half_to_float>(n, row, out);
    case TensorType::BF16:
        return halves_to_float<bf16_to_float>(n, row, out);
    case TensorType::Q4_0:
        return packed_to_float<BlockQ4_0>(n, row, out);
    case TensorType::Q4_1:
        return packed_to_float<BlockQ4_1>(n, row, out);
    case TensorType::Q5_0:
        return packed_to_float<BlockQ5_0>(n, row, out);
    case TensorType::Q5_1:
        return packed_to_float<BlockQ5_1>(n, row, out);
    case TensorType::Q8_0:
        return packed_to_float<BlockQ8_0>(n, row, out);
    case TensorType::Q2_K:
        return packed_to_float<BlockQ2_K>(n, row, out);
    case TensorType::Q3_K:
        return packed_to_float<BlockQ3_K>(n, row, out);
    case TensorType::Q4_K:
        return packed_to_float<BlockQ4_K>(n, row, out);
    case TensorType::Q5_K:
        return packed_to_float<BlockQ5_K>(n, row, out);
    case TensorType::Q6_K:
        return packed_to_float<BlockQ6_K>(n, row, out);
    case TensorType::IQ4_NL:
        return packed_to_float<BlockIQ4_NL>(n, row, out);
    case TensorType::IQ3_S:
        return packed_to_float<BlockIQ3_S>(n, row, out);
    case TensorType::IQ4_XS:
        return packed_to_float<BlockIQ4_XS>(n, row, out);
    case TensorType::MXFP4:
        return packed_to_float<BlockMXFP4>(n, row, out);
    case TensorType::IQ2_XXS:
        return packed_to_float<BlockIQ2_XXS>(n, row, out);
    case TensorType::IQ2_XS:
        return packed_to_float<BlockIQ2_XS>(n, row, out);
    case TensorType::IQ2_S:
        return packed_to_float<BlockIQ2_S>(n, row, out);
    case TensorType::IQ3_XXS:
        return packed_to_float<BlockIQ3_XXS>(n, row, out);
    case TensorType::IQ1_S:
        return packed_to_float<BlockIQ1_S>(n, row, out);
    case TensorType::IQ1_M:
        return packed_to_float<BlockIQ1_M>(n, row, out);
    case TensorType::TQ1_0:
        return packed_to_float<BlockTQ1_0>(n, row, out);
    case TensorType::TQ2_0:
        return packed_to_float<BlockTQ2_0>(n, row, out);
    case TensorType::NVFP4:
        return packed_to_float<BlockNVFP4>(n, row, out);
    }
}

}  // namespace kernels::scalar
