#include "engine/files/checksum.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace engine {

namespace {

// Odd numbers without a pattern: 2^64 over the golden ratio, and the fraction of pi.
constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;
constexpr std::uint64_t kPi = 0x243f6a8885a308d3;
constexpr int kLanes = 4;  // multiplications that do not wait for one another

/// One-to-one in the sum for each word, and in the word for each sum: a single changed word cannot get lost. The second
/// product spreads what the first leaves in the topmost bit, so that no simple change of the next word takes it back.
constexpr std::uint64_t add(std::uint64_t sum, std::uint64_t word)
{
    return std::rotl(sum ^ (word * kGolden), 31) * kPi;
}

std::uint64_t word_at(std::span<const std::byte> bytes, std::size_t at)
{
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
    return word;
}

}  // namespace

std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed)
{
    std::array<std::uint64_t, kLanes> lanes;
    for (int i = 0; i < kLanes; ++i)
        lanes[std::size_t(i)] = add(seed, kGolden * std::uint64_t(i + 1));
    constexpr std::size_t kStripe = kLanes * sizeof(std::uint64_t);
    std::size_t at = 0;
    for (; at + kStripe <= bytes.size(); at += kStripe)
        for (std::size_t i = 0; i < kLanes; ++i)
            lanes[i] = add(lanes[i], word_at(bytes, at + i * sizeof(std::uint64_t)));
    for (std::size_t i = 0; at < bytes.size(); ++i, at += sizeof(std::uint64_t))
        lanes[i] = add(lanes[i], word_at(bytes, at));
    std::uint64_t sum = bytes.size();
    for (const std::uint64_t lane : lanes)
        sum = add(sum, lane);
    sum = (sum ^ (sum >> 32)) * kGolden;
    return sum ^ (sum >> 29);
}

}  // namespace engine
