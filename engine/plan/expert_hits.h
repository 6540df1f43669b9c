// Foretells how many of a token's experts are found among a device's copies: pure arithmetic.
#pragma once

#include <algorithm>
#include <cmath>

namespace engine {

/// The skew of a model that was not seen yet. Of chosen copies it is far more: with copies of 12 and 25 percent of 512
/// experts a layer, 67 and 81 percent of uses were hits (ggml-org/llama.cpp#27861), a skew of 8 and of 6. What is
/// planned with is to be no promise too many.
inline constexpr double kExpectedSkew = 2;
inline constexpr double kGreatestSkew = 16;

/// The share of a token's experts that has a copy, where so large a share of all has one. Skew 1: experts with copies
/// are chosen as often as others; more: they are chosen as if the others had to be missed so many times.
inline double expected_hits(double copied, double skew)
{
    return copied >= 1 ? 1.0 : 1 - std::pow(1 - std::max(0.0, copied), skew);
}

/// Whether what was seen is so far from what was planned with that a plan is worth making anew.
inline bool clearly_other_skew(double seen, double planned)
{
    constexpr double kClearly = 1.5;
    return seen >= planned * kClearly || planned >= seen * kClearly;
}

/// The skew of so large a share of hits. Precondition: 0 < copied < 1.
inline double observed_skew(double copied, double hits)
{
    return hits >= 1 ? kGreatestSkew : std::clamp(std::log1p(-hits) / std::log1p(-copied), 1.0, kGreatestSkew);
}

}  // namespace engine
