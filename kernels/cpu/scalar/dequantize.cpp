// Packed rows to floats, for looking up embeddings and for checking products.
#include "kernels/cpu/scalar/formats.h"
#include "kernels/cpu/scalar/scalar.h"
#include "kernels/packed_types.h"

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
#define PACKED_TO_FLOAT(Name, ...)                                                                                     \
    case TensorType::Name:                                                                                             \
        return packed_to_float<Block##Name>(n, row, out);
        SPILLWAY_EACH_PACKED_TYPE(PACKED_TO_FLOAT)
#undef PACKED_TO_FLOAT
    }
}

}  // namespace kernels::scalar
