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

/// Returns the largest difference of `actual` from what the reference makes of gates and ups, as a share of the
/// tolerance. gate_tolerance, up_tolerance: by how much gates and ups may be wrong themselves. All (n,)
double gate_error(const Gating& gating, std::span<const float> actual, const float* gates, const float* ups,
                  double gate_tolerance = 0, double up_tolerance = 0);

}  // namespace kernels::cuda
