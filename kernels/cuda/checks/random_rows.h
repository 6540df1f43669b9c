// Makes weight rows and activations to check kernels with: random or extreme integers under scales of a known size.
#pragma once

#include "kernels/cpu.h"

#include <cstring>
#include <random>
#include <vector>

namespace kernel_rows {

constexpr float kScale = 0.0625f;  // every block's scale (and min) is +- this: then the largest weight is known

enum class Fill { Random, AllOnes, AllZeros, TopBits };  // of the bytes that are not scales in half precision

/// Holds what is known of a type without asking the code that is checked.
struct TypeFacts {
    kernels::TensorType type;
    std::vector<int> half_offsets;  // bytes in a block where a scale or min in half precision lies
    float largest;                  // largest |scale * q| + |offset| when those halves are 1
};

inline const std::vector<TypeFacts>& packedTypes()
{
    using T = kernels::TensorType;
    static const std::vector<TypeFacts> facts = {
        {T::Q4_0, {0}, 8},
        {T::Q4_1, {0, 2}, 15 + 1},
        {T::Q5_0, {0}, 16},
        {T::Q5_1, {0, 2}, 31 + 1},
        {T::Q8_0, {0}, 128},
        {T::Q2_K, {80, 82}, 15 * 3 + 15},
        {T::Q3_K, {108}, 32 * 4},
        {T::Q4_K, {0, 2}, 63 * 15 + 63},
        {T::Q5_K, {0, 2}, 63 * 31 + 63},
        {T::Q6_K, {208}, 128 * 32},
        {T::IQ2_XXS, {0}, 31 * 43 / 8.0f},
        {T::IQ2_XS, {0}, 31 * 43 / 8.0f},
        {T::IQ3_XXS, {0}, 31 * 62 / 4.0f},
        {T::IQ1_S, {0}, 15 * 9 / 8.0f},
        {T::IQ3_S, {0}, 31 * 15},
        {T::IQ2_S, {0}, 31 * 43 / 8.0f},
        {T::IQ1_M, {}, 15 * 9 / 8.0f},
        {T::TQ1_0, {52}, 1},
        {T::TQ2_0, {64}, 2},
        {T::IQ4_NL, {0}, 127},
        {T::IQ4_XS, {0}, 32 * 127},
        {T::MXFP4, {}, 12},
        {T::NVFP4, {}, 12},
    };
    return facts;
}

/// Sets the scales of types that have none in half precision in one piece.
inline void putOtherScale(kernels::TensorType type, std::byte* block, Fill fill, std::mt19937& rng)
{
    if (type == kernels::TensorType::MXFP4)
        block[0] = std::byte(124);  // 2^(124 - 128) = kScale
    if (type == kernels::TensorType::NVFP4)
        for (int i = 0; i < 4; ++i)  // 32: twice kScale, for values that are not doubled; below it they rise
            block[i] = std::byte(fill == Fill::Random ? rng() % 33 : 32);
    constexpr unsigned kNibbles[] = {0, 0, 0xc, 2};  // of kScale in half precision, the lowest first
    if (type == kernels::TensorType::IQ1_M)
        for (int i = 0; i < 4; ++i) {
            const unsigned sign = i == 3 && rng() % 2 ? 8 : 0;
            std::byte& top = block[49 + 2 * i];
            top = (top & std::byte(15)) | std::byte((kNibbles[i] | sign) << 4);
        }
}

inline std::vector<std::byte> packedRows(const TypeFacts& facts, int n, int rows, Fill fill, std::mt19937& rng)
{
    const kernels::TypeTraits& traits = kernels::type_traits(facts.type);
    std::vector<std::byte> bytes(kernels::row_bytes(facts.type, n) * std::size_t(rows));
    for (std::byte& b : bytes)
        b = fill == Fill::Random    ? std::byte(rng())
            : fill == Fill::AllOnes ? std::byte(0xff)
            : fill == Fill::TopBits ? std::byte(0x88)
                                    : std::byte(0);
    const std::uint16_t plus = 0x2c00;  // kScale in half precision
    for (std::size_t block = 0; block < bytes.size(); block += std::size_t(traits.block_bytes)) {
        for (int offset : facts.half_offsets) {
            const std::uint16_t half = rng() % 2 ? plus : std::uint16_t(plus | 0x8000);
            std::memcpy(bytes.data() + block + offset, &half, 2);
        }
        putOtherScale(facts.type, &bytes[block], fill, rng);
    }
    return bytes;
}

/// Returns rows of float, half or bfloat16 weights in [-2, 2].
inline std::vector<std::byte> floatRows(kernels::TensorType type, int n, int rows, std::mt19937& rng)
{
    std::vector<std::byte> bytes(kernels::row_bytes(type, n) * std::size_t(rows));
    std::uniform_real_distribution<float> weight(-2.0f, 2.0f);
    for (std::size_t i = 0; i < std::size_t(n) * std::size_t(rows); ++i) {
        const float w = weight(rng);
        std::uint32_t bits;
        std::memcpy(&bits, &w, 4);
        const auto bfloat = std::uint16_t(bits >> 16);
        const auto half = std::uint16_t((rng() & 0x83ff) | (1 + rng() % 15) << 10);  // any normal half below 2
        if (type == kernels::TensorType::F32)
            std::memcpy(bytes.data() + 4 * i, &w, 4);
        else
            std::memcpy(bytes.data() + 2 * i, type == kernels::TensorType::F16 ? &half : &bfloat, 2);
    }
    return bytes;
}

/// Returns (tokens, n) values, with a zero group and an outlier here and there, as real activations have.
inline std::vector<float> activations(int n, int tokens, std::mt19937& rng)
{
    std::vector<float> x(std::size_t(n) * std::size_t(tokens));
    std::normal_distribution<float> normal;
    for (float& v : x)
        v = normal(rng) * (rng() % 100 ? 1.0f : 20.0f);
    if (n >= 64)
        std::fill_n(x.begin() + 32, 32, 0.0f);
    return x;
}

/// The tokens' rows in the form that a type's product takes, one after the other.
struct ActivationRows {
    std::vector<std::byte> bytes;
    std::size_t stride;
};

inline ActivationRows rounded(kernels::Activation form, int n, int tokens, const std::vector<float>& x)
{
    ActivationRows rows{{}, kernels::activation_row_bytes(form, n)};
    rows.bytes.resize(rows.stride * std::size_t(tokens));
    for (int t = 0; t < tokens; ++t) {
        const float* from = x.data() + std::size_t(t) * std::size_t(n);
        std::byte* to = rows.bytes.data() + std::size_t(t) * rows.stride;
        if (form == kernels::Activation::F32)
            std::memcpy(to, from, std::size_t(n) * 4);
        else
            kernels::all_cpu_kernels().front().quantize_q8(n, from, to);
    }
    return rows;
}

/// Returns what the product sees of a token's activations.
inline std::vector<float> seen(kernels::Activation form, int n, const std::byte* row)
{
    std::vector<float> x(static_cast<std::size_t>(n));
    if (form == kernels::Activation::F32) {
        std::memcpy(x.data(), row, std::size_t(n) * 4);
        return x;
    }
    const kernels::Q8Row q8(row, n);
    for (int i = 0; i < n; ++i)
        x[std::size_t(i)] = float(q8.q[i]) * q8.scale[i / 32];
    return x;
}

}  // namespace kernel_rows
