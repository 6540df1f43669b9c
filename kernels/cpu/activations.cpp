// Says which form of activations a type's product takes, and where the parts of a rounded row lie.
#include "kernels/cpu.h"
#include "kernels/cpu/q8_layout.h"

namespace kernels {

Activation activation_of(TensorType type)
{
    const bool floats = type == TensorType::F32 || type == TensorType::F16 || type == TensorType::BF16;
    return floats ? Activation::F32 : Activation::Q8;
}

std::size_t activation_row_bytes(Activation activation, int n)
{
    const std::size_t bytes = activation == Activation::F32 ? std::size_t(n) * sizeof(float) : Q8Layout(n).end;
    return (bytes + 63) / 64 * 64;
}

Q8Row::Q8Row(const std::byte* row, int n)
{
    const Q8Layout at(n);
    q = reinterpret_cast<const std::int8_t*>(row);
    scale = reinterpret_cast<const float*>(row + at.scale);
    sum16 = reinterpret_cast<const float*>(row + at.sum16);
    sum32 = reinterpret_cast<const float*>(row + at.sum32);
    shift16 = reinterpret_cast<const std::int32_t*>(row + at.shift16);
    shift32 = reinterpret_cast<const std::int32_t*>(row + at.shift32);
}

}  // namespace kernels
