// Predicts the time of one decode step from a model's costs and a machine's rates, layer by layer. Pure arithmetic.
//
// A layer on the host costs its products, its small operations and its attention, each at the rate that the cores have
// for the bytes of the whole step; what is too little to be divided among the threads, at one thread's. The choice of
// the token is added, which small models feel. A layer on a device with cores of its own: weights W at B_w, KV at B_a,
// of which H bytes lie on the host, C in all; B_p the link, B_c the CPU's attention, B_d DRAM, tau a hand-off; s0 is
// what the ring takes in while the weights are read.
//   resident  W/B_w + C/B_a
//   stream    W/B_w + max(C/B_a, (H - s0)/B_p, (H - s0)/B_d)
//   merge     W/B_w + max(C/B_a, H/B_c + tau)
//   auto      W/B_w + min over s of max(C/B_a, (H - s)/B_c + tau, (s - s0)/B_p, (H - s0)/B_d), no tau for s = H
// A layer whose routed experts lie on the host has them computed there: their work at the CPU's rates and a hand-off
// are added, and W is without them. Of the share c of them that is found among the device's copies (expected_hits())
// the device reads the weights E meanwhile: max(c E/B_w, (1 - c) work) + tau.
//
// C/B_a stands even where the device attends fewer bytes: a spilled cache may be faster than a resident one, since two
// memories are read at once, but that is not promised. So for a given number of layers no prediction rises when there
// is less room.
//
// A device that shares its cores with the host (the emulated one) attends nothing beside the CPU: all its attention
// adds up at the CPU's rates wherever the bytes lie, and only copies over the link go on meanwhile.
#pragma once

#include "engine/machine_rates.h"
#include "engine/plan/columns.h"
#include "engine/plan/model_costs.h"

namespace engine {

enum class DeviceCores { Own, HostsToo };

/// Says how many times as long as the machine's rates say it takes beside everything else in a step.
struct RateErrors {
    double cpu_attention = 1;  // over KV of device layers that lies on the host
    double link = 1;           // KV on its way to the device
    bool operator==(const RateErrors&) const = default;
};

struct PlannedDevice {
    DeviceShare share;
    DeviceCores cores = DeviceCores::Own;
    DeviceRates rates;
    RateErrors errors = {};                     // of a device with cores of its own
    std::optional<RateErrors> divided_by = {};  // `auto` divides KV as if these were its errors; empty: as they are
};

struct PlannedPlacement {
    KvType k_type = KvType::F16, v_type = KvType::F16;
    std::optional<PlannedDevice> device;  // empty: all on the host
};

/// Returns the seconds of the decode step that appends a token to `context_tokens`. Empty: a rate is not known, or the
/// policy stops before.
std::optional<double> step_seconds(const ModelCosts& costs, const PlannedPlacement& placement,
                                   const MachineRates& rates, int context_tokens);

}  // namespace engine
