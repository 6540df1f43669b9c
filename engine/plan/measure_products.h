// Measures how fast a GPU multiplies many tokens, as a prompt is read: by the program's own kernels, and by cuBLAS.
#pragma once

#include "engine/plan/device_meter.h"
#include "engine/plan/model_costs.h"

namespace engine {

// Each: DeviceFull, DeviceLost, Unsupported.

/// Measures products of many tokens with such a matrix, activations rounded first: multiplications and additions a
/// second.
Result<double> measure_matmul_ops_per_s(const DeviceMeter& meter, const WeightRead& matrix);
/// Does the same by cuBLAS. Unsupported: there is none, or it does not start.
Result<double> measure_blas_ops_per_s(const DeviceMeter& meter, const WeightRead& matrix);

}  // namespace engine
