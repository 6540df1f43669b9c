#include "engine/plan/predict.h"

#include "engine/plan/expert_hits.h"
#include "engine/plan/three_way.h"

#include <algorithm>
#include <initializer_list>

namespace engine {

namespace {

/// Adds what is known, and remembers that something was not.
class Seconds
{
public:
    Seconds& operator+=(std::optional<double> s)
    {
        known_ = known_ && s;
        sum_ += s.value_or(0);
        return *this;
    }
    std::optional<double> sum() const { return known_ ? std::optional(sum_) : std::nullopt; }

private:
    double sum_ = 0;
    bool known_ = true;
};

std::optional<double> over(double bytes, std::optional<double> bytes_per_s)
{
    if (bytes == 0)
        return 0.0;
    return bytes_per_s ? std::optional(bytes / *bytes_per_s) : std::nullopt;
}

std::optional<double> longest(std::initializer_list<std::optional<double>> times)
{
    std::optional<double> most = 0.0;
    for (const auto& time : times)
        most = most && time ? std::optional(std::max(*most, *time)) : std::nullopt;
    return most;
}

/// The KV bytes of one layer that a step attends.
struct AttendedKv {
    double all = 0;
    double on_host = 0;  // of them; of a layer on the device only
};

class StepForecast
{
public:
    StepForecast(const ModelCosts& costs, const PlannedPlacement& placement, const MachineRates& rates,
                 int context_tokens)
        : costs_(costs)
        , placement_(placement)
        , rates_(rates)
        , context_(context_tokens)
    {
        if (placement.device && placement.device->share.policy != KvPolicy::CpuDecode) {
            device_ = &*placement.device;
            columns_ = columns_at(device_->share, context_tokens);
            host_expert_layers_ = host_expert_layers(device_->share, columns_.total);
            copies_ = device_->share.layout.cached_experts(device_->share.layers, host_expert_layers_);
        }
        set_bytes_ = cpu_bytes();
    }

    std::optional<double> seconds() const
    {
        if (columns_.stops)
            return std::nullopt;
        Seconds sum;
        for (int l = 0; l < int(costs_.layers.size()); ++l)
            sum += own_cores(l) ? device_layer(l) : host_layer(l);
        sum += head_on_device() ? over(double(costs_.head.read_bytes()), device_->rates.weights_bytes_per_s)
                                : work(costs_.head);
        sum += work(costs_.side);
        sum += choice();
        return sum.sum();
    }

private:
    bool on_device(int l) const { return device_ && l < device_->share.layers; }
    bool own_cores(int l) const { return on_device(l) && device_->cores == DeviceCores::Own; }

    /// Says whether a device with cores of its own leaves the layer's experts to the host.
    bool experts_on_host(int l) const
    {
        return own_cores(l) && device_->share.layout.leaves_experts(l, host_expert_layers_) &&
               !experts(l).reads.empty();
    }
    const LayerWork& experts(int l) const
    {
        static const LayerWork none;
        return costs_.experts.empty() ? none : costs_.experts[std::size_t(l)];
    }

    /// Returns the share of a token's experts that is found among the layer's copies on the device.
    double copied(int l) const
    {
        const LayerBytes& layer = device_->share.layout.layer(l);
        return layer.expert > 0 ? expected_hits(double(copies_) * double(layer.expert) / double(layer.experts),
                                                device_->share.expert_skew)
                                : 0.0;
    }

    /// Returns the time of experts where the host computes those that have no copy while the device computes the
    /// others.
    std::optional<double> shared_experts(int l) const
    {
        const auto here = work(experts(l));
        const auto there = over(copied(l) * double(experts(l).read_bytes()), device_->rates.weights_bytes_per_s);
        return longest({there, here ? std::optional((1 - copied(l)) * *here) : std::nullopt});
    }

    /// Says whether the head lies on the device, which it does where the last layer does.
    bool head_on_device() const { return own_cores(int(costs_.layers.size()) - 1); }

    kernels::KvBlockLayout kv_layout(int l) const
    {
        const LayerWork& layer = costs_.layers[std::size_t(l)];
        kernels::KvBlockLayout layout{
            .k_dim = layer.key_length, .v_dim = layer.value_length, .values_in_keys = layer.values_in_keys};
        layout.set_types(kernel_type(placement_.k_type), kernel_type(placement_.v_type));
        return layout;
    }

    double kv_token_bytes(int l) const { return costs_.kv_heads[std::size_t(l)] * double(kv_layout(l).token_bytes()); }

    AttendedKv kv(int l) const
    {
        const int window = costs_.windows[std::size_t(l)];
        const double tokens = context_ + 1.0;
        AttendedKv kv;
        kv.all = kv_token_bytes(l) * (window > 0 ? std::min<double>(tokens, window) : tokens);
        if (on_device(l) && window == 0)
            kv.on_host =
                kv_token_bytes(l) * std::min(tokens, double(columns_.on_host()) * device_->share.layout.block_tokens());
        return kv;
    }

    /// Returns what the CPU's cores read in the whole step.
    double cpu_bytes() const
    {
        double bytes = double(costs_.side.read_bytes());
        bytes += head_on_device() ? 0.0 : double(costs_.head.read_bytes());
        for (int l = 0; l < int(costs_.layers.size()); ++l) {
            bytes += own_cores(l) ? kv(l).on_host
                                  : double(costs_.layers[std::size_t(l)].read_bytes()) + state_traffic(l) + kv(l).all;
            bytes += experts_on_host(l) ? (1 - copied(l)) * double(experts(l).read_bytes()) : 0.0;
        }
        return bytes;
    }

    /// Returns the time to choose the next token from logits on the host. A device with the head sends the few that are
    /// looked at.
    std::optional<double> choice() const
    {
        Seconds sum;
        sum += rates_.token_s;
        if (!head_on_device())
            sum += rates_.choice_s_per_value ? std::optional(costs_.vocabulary * *rates_.choice_s_per_value)
                                             : std::nullopt;
        return sum.sum();
    }

    /// Returns how many times as long one thread takes as all together.
    double threads() const { return std::max(1, rates_.threads); }

    /// Returns the time of products and small operations on the CPU.
    std::optional<double> work(const LayerWork& work) const
    {
        Seconds sum;
        for (const WeightRead& read : work.reads) {
            const std::string_view type = kernels::type_traits(read.type).name;
            const double bytes = double(read.bytes) * (read.alone ? threads() : 1);
            sum += rates_.product_seconds(type, read.row_length, bytes, set_bytes_);
            if (costs_.multiplies_twice)  // the second time from the cache
                sum += rates_.product_seconds(type, read.row_length, bytes, 0);
        }
        sum += over(double(work.values), rates_.values_per_s);
        sum += rates_.wake_s ? std::optional(work.operations * *rates_.wake_s) : std::nullopt;
        return sum.sum();
    }

    /// Returns the bytes of a recurrent layer's state that a token reads and writes.
    double state_traffic(int l) const { return 2.0 * double(costs_.layers[std::size_t(l)].state_bytes); }

    std::optional<double> attention(int l, double bytes) const
    {
        const LayerWork& layer = costs_.layers[std::size_t(l)];
        return rates_.attention_seconds(placement_.k_type, placement_.v_type, layer.key_length, layer.group,
                                        bytes * kv_layout(l).reads(), set_bytes_);
    }

    /// Returns the time of a layer whose KV the host's cores attend alone. A short one is computed by one thread; the
    /// first that is divided among the threads is taken to be as slow as the last that is not, so that no longer
    /// context is faster.
    std::optional<double> whole_attention(int l, double bytes) const
    {
        if (bytes == 0)
            return 0;
        const double tokens = context_ + 1.0;
        const double shortest = costs_.layers[std::size_t(l)].divided_tokens;
        const auto divided = attention(l, bytes);
        const auto by_one = attention(l, std::min(bytes, shortest * kv_token_bytes(l)) * threads());
        return tokens < shortest ? by_one : longest({divided, by_one});
    }

    /// Returns the time of a layer on the host's cores, which an emulated device shares.
    std::optional<double> host_layer(int l) const
    {
        const auto products = work(costs_.layers[std::size_t(l)]);
        const AttendedKv attended = kv(l);
        Seconds sum;
        sum += products;
        sum += over(state_traffic(l), rates_.dram_read_bytes_per_s);
        if (on_device(l))
            sum += rates_.copy_start_s;  // of what it wrote, to the mirror
        if (!on_device(l) || device_->share.policy != KvPolicy::Stream || attended.on_host == 0 || !products) {
            sum += whole_attention(l, attended.all);
            return sum.sum();
        }
        Seconds streamed;
        streamed += attention(l, attended.all - attended.on_host);
        streamed += longest({attention(l, attended.on_host), over(attended.on_host - ahead(attended.on_host, *products),
                                                                  device_->rates.streamed_bytes_per_s())});
        sum += longest({whole_attention(l, attended.all), streamed.sum()});
        return sum.sum();
    }

    /// Returns the bytes that the ring takes in while the weights are read; `longer`: than by the link's rate.
    double ahead(double on_host, double weights_s, double longer = 1) const
    {
        const DeviceLayout& layout = device_->share.layout;
        return std::min({on_host, double(layout.ring_bytes()),
                         device_->rates.streamed_bytes_per_s().value_or(0) / longer * weights_s});
    }

    std::optional<double> device_layer(int l) const
    {
        const DeviceRates& device = device_->rates;
        const bool without_experts = experts_on_host(l);
        const std::int64_t read =
            costs_.layers[std::size_t(l)].read_bytes() - (without_experts ? experts(l).read_bytes() : 0);
        const auto weights = over(double(read) + state_traffic(l), device.weights_bytes_per_s);
        const AttendedKv attended = kv(l);
        const auto resident = over(attended.all, device.attention_bytes_per_s);
        if (!weights || !resident)
            return std::nullopt;
        const bool spilled = attended.on_host > 0;
        Seconds sum;
        sum += weights;
        sum += device.small_kernels_s;
        sum += spilled ? attend_spilled(l, *resident, attended.on_host, *weights) : resident;
        if (without_experts) {
            sum += shared_experts(l);
            sum += device.hand_off_s;
        }
        return sum.sum();
    }

    /// Returns the time of attention of a layer of which `all` bytes of KV lie on the host; `resident_s`: if none did.
    std::optional<double> attend_spilled(int l, double resident_s, double all, double weights_s) const
    {
        const RateErrors& errors = device_->errors;
        const double s0 = ahead(all, weights_s, errors.link);
        const auto dram = over(all - s0, rates_.dram_read_bytes_per_s);
        switch (device_->share.policy) {
        case KvPolicy::Stream:
            return longest({resident_s, over((all - s0) * errors.link, device_->rates.streamed_bytes_per_s()), dram});
        case KvPolicy::Merge: {
            const auto cpu = attention(l, all);
            Seconds sum;
            sum += cpu ? std::optional(*cpu * errors.cpu_attention) : std::nullopt;
            sum += device_->rates.merge_hand_off_s();
            return longest({resident_s, sum.sum()});
        }
        case KvPolicy::Auto:
            return attend_divided(l, resident_s, all, weights_s);
        case KvPolicy::Resident:
        case KvPolicy::CpuDecode:
            break;
        }
        return resident_s;
    }

    std::optional<double> attend_divided(int l, double resident_s, double all, double weights_s) const
    {
        const auto cpu_s = attention(l, 1);  // a byte
        const auto link = device_->rates.streamed_bytes_per_s();
        const auto hand_off = device_->rates.hand_off_s;
        const auto dram_rate = rates_.dram_read_bytes_per_s;
        if (!cpu_s || !link || !hand_off || !dram_rate)
            return std::nullopt;
        const auto costs = [&](const RateErrors& errors) {
            return SplitCosts{resident_s,
                              ahead(all, weights_s, errors.link),
                              *cpu_s * errors.cpu_attention,
                              errors.link / *link,
                              1 / *dram_rate,
                              *hand_off};
        };
        const SplitCosts here = costs(device_->errors);
        const double streamed =
            three_way_split(all, device_->divided_by ? costs(*device_->divided_by) : here).streamed_bytes;
        return split_seconds(all, streamed, here);
    }

    const ModelCosts& costs_;
    const PlannedPlacement& placement_;
    const MachineRates& rates_;
    int context_;
    const PlannedDevice* device_ = nullptr;  // null: all is computed on the host
    Columns columns_;
    int host_expert_layers_ = 0;
    int copies_ = 0;  // of experts, on the device, of each of these layers
    double set_bytes_ = 0;
};

}  // namespace

std::optional<double> step_seconds(const ModelCosts& costs, const PlannedPlacement& placement,
                                   const MachineRates& rates, int context_tokens)
{
    return StepForecast(costs, placement, rates, context_tokens).seconds();
}

}  // namespace engine
