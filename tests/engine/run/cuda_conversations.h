// Makes requests by which the steps of a conversation on a GPU are of one kind: by what of its KV lies where, and what
// is known of the machine.
#pragma once

#include "engine/machine_rates.h"
#include "engine/plan/measure_device.h"
#include "tests/support/cuda_run.h"

namespace test_support {

// An answer of several blocks. With sanitizers, where a step takes many times as long, there are two of them.
#ifdef SPILLWAY_SANITIZED
constexpr Lengths kLengths{150, 182}, kShort{150, 166};
#else
constexpr Lengths kLengths{150, 214}, kShort{150, 172};
#endif
constexpr int kAnswerSteps = kLengths.all - kLengths.prefill;

// Tokens for which there is room where the first block leaves in the midst of the answer.
constexpr int kRoomUntilAnswer = kLengths.prefill + kAnswerSteps * 5 / 8;

/// The kinds of steps that a conversation makes, by when its first block leaves.
inline LoadRequest never_leaving()
{
    return on_cuda(request_for("llama"));
}
inline LoadRequest leaving_after(int tokens, KvPolicy policy = KvPolicy::Merge)
{
    LoadRequest request = with_room_for(request_for("llama"), tokens);
    request.placement.kv_policy = policy;
    return request;
}

/// Rates by which the link and the CPU take as much each.
inline std::shared_ptr<const MachineRates> even_rates()
{
    MachineRates rates;
    rates.dram_read_bytes_per_s = 1e12;
    rates.attention.push_back({KvType::F16, KvType::F16, 64, 64, RateCurve({{1e6, 1e9}})});
    DeviceRates device;
    device.name = name_with_driver(**CudaDevice::open(0));
    device.weights_bytes_per_s = device.attention_bytes_per_s = 1e12;
    device.to_device_bytes_per_s = device.to_host_bytes_per_s = 1e9;
    device.hand_off_s = 0;
    rates.devices["cuda:0"] = device;
    return std::make_shared<const MachineRates>(std::move(rates));
}

/// Rates by which device and host wait for each other in the middle of a graph.
inline LoadRequest joining_by_flags(LoadRequest request)
{
    MachineRates rates = *even_rates();
    rates.devices["cuda:0"].hand_off_s = 2e-5;
    rates.devices["cuda:0"].flag_hand_off_s = 1e-5;
    request.placement.rates = std::make_shared<const MachineRates>(std::move(rates));
    return request;
}

}  // namespace test_support
