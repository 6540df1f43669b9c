// Says what a layer's experts cost a step of many rows where they lie on the host, by the rates of the machine and of
// the device, and whether it pays that some come to the device for it.
#pragma once

#include "engine/machine_rates.h"
#include "engine/model/expert_costs.h"
#include "engine/model/hyperparameters.h"
#include "engine/model/weights.h"
#include "engine/plan/device_bytes.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace engine {

/// Returns (layers,) the costs of each layer's experts. Empty: it would not pay in steps of this many rows, or a rate
/// is not known; `rates` may be null. Empty, too, for a GPU where memory cannot hold the file's experts beside the
/// host's copies of them. memory_bytes: of this machine; empty: unknown. Gives the layout a ring for the experts that
/// come.
std::vector<std::optional<ExpertCosts>> plan_expert_ring(const Hyperparameters& h, const Weights& weights,
                                                         const MachineRates* rates, const DeviceRates& device,
                                                         int max_rows, std::optional<std::int64_t> memory_bytes,
                                                         DeviceLayout& layout);

/// Says whether memory holds the experts twice: the file's pages, which a GPU reads, and the copies that the host
/// computes with. If it does not, a GPU waits for the disk when experts come to it. The experts of all layers are
/// counted, also those that lie on a device, since how many do changes while the model talks. Without memory_bytes it
/// is taken for enough.
bool holds_experts_twice(const Hyperparameters& h, const Weights& weights, std::optional<std::int64_t> memory_bytes);

}  // namespace engine
