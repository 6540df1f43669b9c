// Measures what a GPU does in a decode step, each by itself, through the kernels that the program computes with: the
// numbers of DeviceRates.
#pragma once

#include "engine/device/cuda_device.h"
#include "engine/machine_rates.h"
#include "engine/plan/measure_rates.h"
#include "engine/plan/model_costs.h"

#include <span>
#include <string>

namespace engine {

/// Returns what rates of a GPU hold for: "NVIDIA H100 80GB HBM3, CUDA driver 12.8".
std::string name_with_driver(const CudaDevice& device);

/// Measures what a decode step of such layers needs. `attention_bytes_per_s` is that of the form.
Result<DeviceRates> measure_rates_of(CudaDevice& device, std::span<const WeightRead> layer, const KvForm& form,
                                     int kv_heads);

}  // namespace engine
