// Chooses, by the rates of a machine, how many of a layer's blocks on the host travel to a GPU in a decode step.
#pragma once

#include "engine/kv/kv_pager.h"
#include "engine/machine_rates.h"
#include "engine/plan/predict.h"
#include "engine/run/model_on_host.h"

namespace engine {

/// Returns how `auto` divides what a layer has on the host, by the rates of the machine and of its GPU, which has
/// `ring_bytes` for what travels, and their errors. Empty where not all rates are known; `rates` may be null.
KvPager::StreamChoice stream_choice(const ModelOnHost& model, const MachineRates* rates, const DeviceRates& device,
                                    std::int64_t ring_bytes, const RateErrors& errors);

/// Returns the seconds a byte that the CPU's attention takes by the rates, in layers that attend to everything. Empty:
/// there are none, or that was not measured.
std::optional<double> host_attention_s_per_byte(const ModelOnHost& model, const MachineRates* rates);

}  // namespace engine
