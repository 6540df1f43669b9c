// Predicts how many of a token's experts are found among a device's copies: pure arithmetic.
#pragma once

#include <algorithm>
#include <cmath>

namespace engine {

/// The skew that is assumed before a model was observed. Where the copies are those of the most chosen experts it is
/// far larger: copies of 12 and 25 percent of 512 experts a layer gave hit rates of 67 and 81 percent
/// (ggml-org/llama.cpp#27861), a skew of 8 and of 6. It is assumed low, so that a plan does not promise too much.
inline constexpr double kExpectedSkew = 2;
inline constexpr double kGreatestSkew = 16;

/// Returns the share of a token's experts that is found among copies of the share `copied` of all:
/// 1 - (1 - copied)^skew. Skew 1: as often as by chance; n: an expert is missed only as often as n random choices in a
/// row would all be missed.
inline double expected_hits(double copied, double skew)
{
    return copied >= 1 ? 1.0 : 1 - std::pow(1 - std::max(0.0, copied), skew);
}

/// Says whether the skew that was seen is so far from the planned one that it pays to plan anew.
inline bool clearly_other_skew(double seen, double planned)
{
    constexpr double kClearly = 1.5;
    return seen >= planned * kClearly || planned >= seen * kClearly;
}

/// Returns the skew that gives so large a share of hits. Precondition: 0 < copied < 1.
inline double observed_skew(double copied, double hits)
{
    return hits >= 1 ? kGreatestSkew : std::clamp(std::log1p(-hits) / std::log1p(-copied), 1.0, kGreatestSkew);
}

}  // namespace engine
