#include "engine/shape/random_weights.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <optional>

namespace engine {

namespace {

using kernels::TensorType;

void fill_bits(SplitMix& random, std::span<std::byte> bytes)
{
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
        const std::uint64_t bits = random.bits();
        std::memcpy(&bytes[at], &bits, std::min(sizeof bits, bytes.size() - at));
    }
}

/// Returns the nearest half-precision number other than 0, within the normal ones.
std::uint16_t half_of(float x)
{
    const auto bits = std::bit_cast<std::uint32_t>(std::clamp(std::abs(x), 6.2e-5f, 6e4f)) + (1u << 12);
    return std::uint16_t(((bits >> 13) - ((127 - 15) << 10)) | (x < 0 ? 0x8000u : 0u));
}

/// Returns the standard deviation of uniform integers 0 to 2^bits - 1.
constexpr double uniform_deviation(int bits)
{
    return bits == 2 ? 1.118 : bits == 3 ? 2.291 : bits == 4 ? 4.61 : bits == 5 ? 9.23 : bits == 6 ? 18.47 : 73.9;
}

/// Fills floats of 16 bits: a random sign and fraction, and one exponent for all. Values in [1, 2) deviate by 1.53.
void fill_short_floats(int exponent_bits, float deviation, SplitMix& random, std::span<std::byte> bytes)
{
    const int fraction_bits = 15 - exponent_bits;
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = std::clamp(int(std::lround(std::log2(deviation / 1.53))) + bias, 1, 2 * bias);
    const auto kept = std::uint16_t(0x8000u | ((1u << fraction_bits) - 1));
    const auto set = std::uint16_t(unsigned(exponent) << fraction_bits);
    fill_bits(random, bytes);
    for (std::size_t at = 0; at + 2 <= bytes.size(); at += 2) {
        std::uint16_t value;
        std::memcpy(&value, &bytes[at], sizeof value);
        value = std::uint16_t((value & kept) | set);
        std::memcpy(&bytes[at], &value, sizeof value);
    }
}

/// Holds what of a block is not random: halves, and bytes from an offset on.
struct Fixed {
    std::array<int, 2> half_offsets;
    std::array<float, 2> halves;
    int count;  // of halves
    int bytes_at = 0;
    std::array<std::uint8_t, 16> bytes = {};
    int byte_count = 0;
};

/// Packs sixteen numbers of 6 bits into 12 bytes, as Q4_K and Q5_K do: eight scales of one value, then eight mins.
std::array<std::uint8_t, 16> packed_scales(unsigned scale, unsigned min)
{
    std::array<std::uint8_t, 16> out = {};
    for (std::size_t i = 0; i < 4; ++i) {
        out[i] = std::uint8_t(scale | (scale >> 4) << 6);
        out[i + 4] = std::uint8_t(min | (min >> 4) << 6);
        out[i + 8] = std::uint8_t((scale & 15) | (min & 15) << 4);
    }
    return out;
}

/// Makes four words of four scales of 3 bits, all of them 3, below a nibble of the half each.
std::array<std::uint8_t, 16> iq1_m_scales(float scale)
{
    std::array<std::uint8_t, 16> out = {};
    const unsigned half = half_of(scale);
    for (std::size_t i = 0; i < 4; ++i) {
        const unsigned word = 3 | 3 << 3 | 3 << 6 | 3 << 9 | (half >> (4 * i) & 15) << 12;
        out[2 * i] = std::uint8_t(word);
        out[2 * i + 1] = std::uint8_t(word >> 8);
    }
    return out;
}

/// Returns the nearest float of four bits of exponent (bias 7) and three of fraction, of those that are not 0.
std::uint8_t nvfp4_scale(float scale)
{
    const int exponent = std::max(std::ilogb(scale), -6);
    return std::uint8_t(std::max(1, 8 * (exponent + 6) + int(std::lround(std::ldexp(scale, 3 - exponent)))));
}

/// Returns the fixed parts of types whose one half scales values of a known size.
std::optional<Fixed> scaled_values(TensorType type, float deviation)
{
    const auto half = [&](int at, double size) { return Fixed{{at, 0}, {float(deviation / size), 0}, 1}; };
    // Root mean squares of group scales 1, 3 .. 31 or 1, 3 .. 15, and of the values in the grids.
    constexpr double kOdd16 = 18.47, kOdd8 = 9.22;
    switch (type) {
    case TensorType::IQ2_XXS:
        return half(0, kOdd16 / 8 * 23.12);
    case TensorType::IQ2_XS:
        return half(0, kOdd16 / 8 * 24.22);
    case TensorType::IQ2_S:
        return half(0, kOdd16 / 8 * 24.43);
    case TensorType::IQ3_XXS:
        return half(0, kOdd16 / 4 * 30.85);
    case TensorType::IQ3_S:
        return half(0, kOdd16 * 7.594);
    case TensorType::IQ1_S:
        return half(0, kOdd8 * 0.7809);
    case TensorType::IQ4_NL:
        return half(0, 67.44);
    case TensorType::TQ1_0:
        return half(52, 0.8179);
    case TensorType::TQ2_0:
        return half(64, 0.7071);
    default:
        return {};
    }
}

Fixed fixed_parts(TensorType type, float deviation)
{
    if (const auto scaled = scaled_values(type, deviation))
        return *scaled;
    const auto step = [&](int bits, double scale) { return float(deviation / (uniform_deviation(bits) * scale)); };
    switch (type) {
    case TensorType::Q4_0:  // d * (q - 8)
        return {{0, 0}, {step(4, 1), 0}, 1};
    case TensorType::Q4_1:  // d * q + min; the middle of q is 7.5
        return {{0, 2}, {step(4, 1), -7.5f * step(4, 1)}, 2};
    case TensorType::Q5_0:  // d * (q - 16)
        return {{0, 0}, {step(5, 1), 0}, 1};
    case TensorType::Q5_1:  // d * q + min; the middle of q is 15.5
        return {{0, 2}, {step(5, 1), -15.5f * step(5, 1)}, 2};
    case TensorType::Q2_K: {  // d * scale * q - dmin * min; the middle of q is 1.5
        constexpr unsigned kScale = 8, kMin = 12;
        const float d = step(2, kScale);
        Fixed parts{{80, 82}, {d, d}, 2, 0, {}, 16};
        parts.bytes.fill(std::uint8_t(kScale | kMin << 4));
        return parts;
    }
    case TensorType::Q3_K:  // d * (scale - 32) * (q - 4); scales are 36: low fours of 4, then high twos of 2
        return {
            {108, 0}, {step(3, 4), 0}, 1, 96, {0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0xaa, 0xaa, 0xaa, 0xaa},
            12};
    case TensorType::Q8_0:  // d * q
        return {{0, 0}, {step(8, 1), 0}, 1};
    case TensorType::Q4_K: {  // d * scale * q - dmin * min; the middle of q is 7.5
        const float d = step(4, 8);
        return {{0, 2}, {d, d}, 2, 4, packed_scales(8, 60), 12};
    }
    case TensorType::Q5_K: {  // the middle of q is 15.5
        const float d = step(5, 8);
        return {{0, 2}, {d, d * 2}, 2, 4, packed_scales(8, 62), 12};
    }
    case TensorType::Q6_K: {       // d * scale * (q - 32)
        constexpr int kScale = 4;  // so that d stays a normal half in the longest rows
        Fixed parts{{208, 0}, {step(6, kScale), 0}, 1, 192, {}, 16};
        parts.bytes.fill(kScale);
        return parts;
    }
    case TensorType::IQ4_XS:  // group scales are 33 - 32, so that d stays a normal half
        return {{0, 0}, {float(deviation / 67.44), 0}, 1, 2, {0xaa, 0xaa, 0x11, 0x11, 0x11, 0x11}, 6};
    case TensorType::IQ1_M:  // group scales are 7
        return {{}, {}, 0, 48, iq1_m_scales(float(deviation / (7 * 0.7809))), 8};
    case TensorType::MXFP4: {  // a power of two, and values up to 6
        Fixed parts{{}, {}, 0, 0, {}, 1};
        parts.bytes[0] = std::uint8_t(127 + std::lround(std::log2(deviation / 2.925f)));
        return parts;
    }
    case TensorType::NVFP4: {  // values up to 6
        Fixed parts{{}, {}, 0, 0, {}, 4};
        parts.bytes.fill(nvfp4_scale(float(deviation / 2.925)));
        return parts;
    }
    default:
        assert(false);
        return {};
    }
}

/// Makes pairs of bits that are 3 into 1, so that -1, 0 and 1 have the mean 0.
void clear_threes(std::span<std::byte> bytes)
{
    for (std::byte& pairs : bytes)
        pairs &= ~((pairs & std::byte(0x55)) << 1);
}

void fill_packed(TensorType type, float deviation, SplitMix& random, std::span<std::byte> blocks)
{
    const Fixed parts = fixed_parts(type, deviation);
    fill_bits(random, blocks);
    if (type == TensorType::TQ2_0)
        clear_threes(blocks);
    const auto stride = std::size_t(kernels::type_traits(type).block_bytes);
    for (std::size_t at = 0; at + stride <= blocks.size(); at += stride) {
        std::byte* block = &blocks[at];
        for (int i = 0; i < parts.count; ++i) {
            const std::uint16_t half = half_of(parts.halves[std::size_t(i)]);
            std::memcpy(block + parts.half_offsets[std::size_t(i)], &half, sizeof half);
        }
        std::memcpy(block + parts.bytes_at, parts.bytes.data(), std::size_t(parts.byte_count));
    }
}

void fill_floats(float deviation, SplitMix& random, std::span<std::byte> bytes)
{
    for (std::size_t at = 0; at + sizeof(float) <= bytes.size(); at += sizeof(float)) {
        const float value = deviation * 1.732f * random.uniform();
        std::memcpy(&bytes[at], &value, sizeof value);
    }
}

}  // namespace

bool can_fill(TensorType type)
{
    switch (type) {
    case TensorType::F32:
    case TensorType::F16:
    case TensorType::BF16:
    case TensorType::Q4_0:
    case TensorType::Q4_1:
    case TensorType::Q5_0:
    case TensorType::Q5_1:
    case TensorType::Q8_0:
    case TensorType::Q2_K:
    case TensorType::Q3_K:
    case TensorType::Q4_K:
    case TensorType::Q5_K:
    case TensorType::Q6_K:
    case TensorType::IQ4_XS:
    case TensorType::IQ1_M:
    case TensorType::MXFP4:
    case TensorType::NVFP4:
        return true;
    default:
        return scaled_values(type, 1.0f).has_value();
    }
}

void fill_weights(TensorType type, float deviation, SplitMix& random, std::span<std::byte> blocks)
{
    if (type == TensorType::F32)
        fill_floats(deviation, random, blocks);
    else if (type == TensorType::F16)
        fill_short_floats(5, deviation, random, blocks);
    else if (type == TensorType::BF16)
        fill_short_floats(8, deviation, random, blocks);
    else
        fill_packed(type, deviation, random, blocks);
}

}  // namespace engine
