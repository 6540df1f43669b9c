// Measures what a GPU reads in a decode step: weights and KV, through the kernels that the program computes with.
#pragma once

#include "engine/plan/device_meter.h"
#include "engine/plan/measure_rates.h"
#include "engine/plan/model_costs.h"

#include <span>

namespace engine {

// Each: DeviceFull, DeviceLost.

/// Measures the products of a layer in a decode step, the layer's weights from memory each time.
Result<double> measure_weights_bytes_per_s(const DeviceMeter& meter, std::span<const WeightRead> layer);
/// Measures what a layer's kernels take beside its products, in a graph and with little context: norms, roundings,
/// attention.
Result<double> measure_small_kernels_s(const DeviceMeter& meter, const KvForm& form, int kv_heads, int row_length);
/// Measures attention of one token over this many tokens of a layer, its partials merged; fewer where there is no room.
Result<double> measure_attention_bytes_per_s(const DeviceMeter& meter, const KvForm& form, int kv_heads, int tokens);

}  // namespace engine
