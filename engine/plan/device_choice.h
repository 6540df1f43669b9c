// DeviceChoice says what a device holds beside a conversation's KV: how many layers, the experts of how many of them,
// and how many copies of the others' experts. It goes by the time of a token that their bytes save.
//
// Ways to divide the memory are compared by the time that predict.h computes for each. For every number of layers that
// fits, these are tried: the experts of whole layers for which KV leaves room; all experts of these layers; and copies,
// in sixteenths of all experts, while all layers leave their experts on the host. For the best number of layers, and
// for the largest, copies are also tried while three quarters, half or a quarter of the layers do. So layers alone, and
// experts on the host alone, are never faster. Where the machine's rates are not known, or the device shares the host's
// cores, layers come first, then KV, then what finds most experts.
#pragma once

#include "engine/plan/predict.h"
#include "engine/planner.h"

#include <cstdint>
#include <limits>

namespace engine {

struct DeviceChoice {
    int layers = 0;
    int host_expert_layers = 0;           // this many, from the first on, leave their experts on the host
    std::int64_t expert_cache_bytes = 0;  // for copies of these
};

/// Limits a choice by what was chosen before.
struct ChoiceBounds {
    bool layers_are_chosen = false;                                       // those of the placement
    std::int64_t most_copies = std::numeric_limits<std::int64_t>::max();  // bytes
};

/// Chooses for a conversation of this many block columns and as many more as columns_with_room() says, so that not
/// every new column moves something. The placement's share has as many layers as fit, the policy, and the layers that
/// leave their experts on the host, where that is chosen. Precondition: it has a device.
DeviceChoice choose_tenants(const ModelCosts& costs, const PlannedPlacement& placement, const MachineRates* rates,
                            int columns, const ChoiceBounds& bounds = {});

DeviceShare with_choice(DeviceShare share, const DeviceChoice& choice);

/// Returns what the experts on the device gain in a placement that was chosen, for a conversation of this many block
/// columns.
ExpertsGain gain_of(const ModelCosts& costs, const PlannedPlacement& chosen, const MachineRates* rates, int columns);

}  // namespace engine
