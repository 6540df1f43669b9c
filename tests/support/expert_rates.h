// Makes up rates by which about two thirds of the experts that a step of many rows has chosen travel to a device.
#pragma once

#include "engine/machine_rates.h"
#include "kernels/types.h"

#include <memory>
#include <string>

namespace test_support {

/// `name`: of a GPU with its driver; an emulated device has none. The link is as fast as the host reads weights, and
/// the host half as fast while they leave it.
inline std::shared_ptr<const engine::MachineRates> rates_of_travelling_experts(const std::string& device,
                                                                               const std::string& name = {})
{
    constexpr double kBytesPerS = 1e9, kNoTime = 1e15;
    engine::MachineRates rates;
    rates.threads = 2;
    for (const kernels::TypeTraits& type : kernels::all_tensor_types())
        rates.products.push_back({type.name, 256, engine::RateCurve({{1e6, kBytesPerS}}), kNoTime});
    rates.devices[device] = {.name = name, .unlocked_to_device_bytes_per_s = kBytesPerS, .matmul_ops_per_s = kNoTime};
    return std::make_shared<const engine::MachineRates>(std::move(rates));
}

}  // namespace test_support
