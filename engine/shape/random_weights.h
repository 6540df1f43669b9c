// Makes random weights of a type, of about the size that training gives them: activations keep their size from layer to
// layer.
#pragma once

#include "kernels/types.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace engine {

/// A small generator that is the same everywhere (splitmix64, Steele et al. 2014).
class SplitMix
{
public:
    explicit SplitMix(std::uint64_t seed)
        : state_(seed)
    {
    }
    std::uint64_t bits()
    {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    /// Returns a number in [-1, 1).
    float uniform() { return float(bits() >> 40) / float(1 << 23) - 1.0f; }

private:
    std::uint64_t state_;
};

/// Says whether fill_weights() knows the type.
bool can_fill(kernels::TensorType type);

/// Fills whole blocks with values of about this standard deviation.
void fill_weights(kernels::TensorType type, float deviation, SplitMix& random, std::span<std::byte> blocks);

}  // namespace engine
