// PlacementOptions holds what may be asked about where a model lies: the device, how many layers it holds, and what
// becomes of the KV cache when its memory is full.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace engine {

struct MachineRates;

/// Says what is done about KV blocks of device layers that lie on the host.
enum class KvPolicy {
    Resident,   // nothing leaves the device; when it is full the answer stops and says so
    Stream,     // copied to a ring on the device ahead of their use, in every step
    Merge,      // attended by the CPU where they lie; the partial results are merged
    Auto,       // a part of each, as is fastest by the rates measured
    CpuDecode,  // prefill on the device, decode on the host
};

/// A device in host memory, computing on the CPU: it shows memory pressure on any machine, and tests the pager.
struct EmulatedDeviceOptions {
    std::int64_t vram_bytes = 0;  // 0: by fit_tokens
    int fit_tokens = 0;           // weights, scratch and the KV of this many tokens fit below the watermark
    double link_bytes_per_s = 16e9;
    // Faults, for tests and demonstrations. 0: never.
    int refuse_allocation = 0;  // the n-th allocation is refused
    int lose_at_call = 0;       // the device is gone from the n-th call on

    bool operator==(const EmulatedDeviceOptions&) const = default;
};

/// The bounds of PlacementOptions::watermark: below the lower one more than half of the budget would lie idle.
inline constexpr double kLowestWatermark = 0.5, kHighestWatermark = 1.0;

struct PlacementOptions {
    enum class Device { Cpu, Cuda, Emulated };
    Device device = Device::Cpu;
    int cuda_ordinal = 0;  // which of the machine's GPUs
    EmulatedDeviceOptions emulated;

    std::optional<int> device_layers;  // this many, from the first on; empty: as many as fit
    static constexpr int kAllLayers = 1 << 20;
    /// This many layers, from the first on, have their routed experts on the host, wherever the rest of them lies.
    /// Empty: as many as the KV of the conversation needs to drive out.
    std::optional<int> host_expert_layers;
    /// Layers whose routed experts go to the host before those of others, in this order; tensor_overrides are turned
    /// into it.
    std::vector<int> host_experts_first;
    /// Tensors in whose name the pattern is found are to lie on this device; the first pattern that is found counts. Of
    /// a model's tensors only routed experts can be placed so; see with_tensor_overrides().
    struct TensorOverride {
        std::string pattern;
        Device device = Device::Cpu;
        int cuda_ordinal = 0;
        bool operator==(const TensorOverride&) const = default;
    };
    std::vector<TensorOverride> tensor_overrides;
    /// How much of the device's memory is for copies of experts that lie on the host: those that tokens choose most. 0:
    /// none. Empty: as many as save more of a token's time than KV would in their bytes.
    std::optional<std::int64_t> expert_cache_bytes = 0;
    /// How much more often than by chance tokens choose experts that have copies; see expected_hits(). Empty: as is
    /// expected before a model was seen.
    std::optional<double> expert_skew;
    std::int64_t vram_budget_bytes = 0;  // what the program allows itself; 0: all that is free
    /// What others hold of the device's memory, for a plan. Empty: a GPU is asked, an emulated device has none.
    std::optional<std::int64_t> other_programs_bytes;
    int budget_fit_tokens = 0;  // or just so much that all layers and this many tokens fit below the watermark
    double watermark = 0.95;    // share of the budget above which the oldest blocks leave; see kLowestWatermark
    KvPolicy kv_policy = KvPolicy::Auto;
    std::shared_ptr<const MachineRates> rates;  // of this machine; null: `auto` is `merge` in decoding
    double kv_offload_share = 0;                // of the KV blocks that may leave, this share lies on the host at least
};

}  // namespace engine
