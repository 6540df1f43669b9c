// Checks gated activations, and products that end in one, against the scalar reference.
#pragma once

#include "kernels/cuda/check.h"
#include "kernels/cuda/gating.h"

#include <span>
#include <vector>

namespace kernels::cuda {

struct NamedGating {
    const char* name;
    Gating gating;
};
std::span<const NamedGating> all_gatings();

/// The largest difference of `actual` from what the reference makes of gates and ups, as a share of the tolerance;
/// these may be wrong themselves by so much. All (n,)
double gate_error(const Gating& gating, std::span<const float> actual, const float* gates, const float* ups,
                  double gate_tolerance = 0, double up_tolerance = 0);

}  // namespace kernels::cuda
