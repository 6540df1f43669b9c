// Draws the sampler's random numbers: xoshiro256** (Blackman and Vigna, 2018), seeded through splitmix64. Our own,
// since the standard library's distributions differ from one implementation to the next.
#pragma once

#include <cstdint>

namespace engine {

/// One stream of random numbers: the same seed gives the same numbers everywhere. One thread, owned by its Sampler.
class Random
{
public:
    explicit Random(std::uint64_t seed)
    {
        for (std::uint64_t& word : state_) {  // splitmix64
            seed += 0x9e3779b97f4a7c15u;
            std::uint64_t z = seed;
            z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
            z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
            word = z ^ (z >> 31);
        }
    }

    std::uint64_t next()
    {
        const std::uint64_t result = rotate_left(state_[1] * 5, 7) * 9;
        const std::uint64_t t = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= t;
        state_[3] = rotate_left(state_[3], 45);
        return result;
    }

    /// Returns a number that is uniform in [0, 1): the upper 53 bits, all that a double holds.
    double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

private:
    static std::uint64_t rotate_left(std::uint64_t x, int bits) { return (x << bits) | (x >> (64 - bits)); }

    std::uint64_t state_[4];
};

}  // namespace engine
