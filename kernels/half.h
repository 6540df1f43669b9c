// Turns 16-bit floats into 32-bit ones and back, in plain integer arithmetic: for code that must run on every
// processor.
#pragma once

#include <bit>
#include <cstdint>

namespace kernels {

inline float half_to_float(std::uint16_t h)
{
    const std::uint32_t sign = std::uint32_t(h & 0x8000u) << 16;
    const std::uint32_t rest = h & 0x7fffu;
    if (rest < 0x0400u) {  // zero and subnormals: rest * 2^-24, exact in a float
        const float magnitude = float(rest) * 0x1p-24f;
        return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
    }
    const std::uint32_t exponent_shift = rest >= 0x7c00u ? (255u - 31u) << 23 : (127u - 15u) << 23;
    return std::bit_cast<float>(sign | ((rest << 13) + exponent_shift));
}

/// Rounds to nearest, ties to even; too large becomes infinity, as the F16C instructions do.
inline std::uint16_t float_to_half(float f)
{
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(f);
    const std::uint32_t sign = (bits >> 16) & 0x8000u;
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u)  // NaN stays one
        return std::uint16_t(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
    if (magnitude >= 0x47800000u)  // 65536 and above
        return std::uint16_t(sign | 0x7c00u);
    if (magnitude < 0x38800000u) {  // below 2^-14: adding 0.5 leaves the rounded subnormal in the low mantissa bits
        const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
        return std::uint16_t(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
    }
    const std::uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
    return std::uint16_t(sign | ((rounded - ((127u - 15u) << 23)) >> 13));
}

inline float bf16_to_float(std::uint16_t h)
{
    return std::bit_cast<float>(std::uint32_t(h) << 16);
}

inline std::uint16_t float_to_bf16(float f)
{
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(f);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return std::uint16_t((bits >> 16) | 0x40u);
    return std::uint16_t((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace kernels
