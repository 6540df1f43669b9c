#include "engine/run/stream_choice.h"

#include "engine/plan/model_costs.h"
#include "engine/plan/three_way.h"

#include <algorithm>
#include <vector>

namespace engine {

namespace {

std::optional<double> attention_s_per_byte(const KvLayerShape& kv, const LayerWork& work, const MachineRates& rates)
{
    constexpr double kManyBytes = 1e12;  // attention reads memory, not caches
    return rates.attention_seconds(kv_type(kv.block.k_type), kv_type(kv.block.v_type), kv.block.k_dim, work.group,
                                   kv.block.reads(), kManyBytes);
}

}  // namespace

KvPager::StreamChoice stream_choice(const ModelOnHost& model, const MachineRates* rates, const DeviceRates& device,
                                    std::int64_t ring_bytes, const RateErrors& errors)
{
    if (!rates || !rates->dram_read_bytes_per_s || !device.weights_bytes_per_s || !device.attention_bytes_per_s ||
        !device.streamed_bytes_per_s() || !device.hand_off_s)
        return {};
    const ModelCosts costs = model_costs(model.h, model.weights);
    const double link_bytes_per_s = *device.streamed_bytes_per_s() / errors.link;
    struct LayerCosts {
        SplitCosts costs;
        double block_bytes, resident_s_per_block;
    };
    std::vector<LayerCosts> layers;
    for (int l = 0; l < model.cache.num_layers(); ++l) {
        const KvLayerShape& kv = model.cache.layer(l);
        const LayerWork& work = costs.layers[std::size_t(l)];
        const auto cpu = attention_s_per_byte(kv, work, *rates);
        if (!cpu)
            return {};
        const double weights_s = double(work.read_bytes()) / *device.weights_bytes_per_s;
        const auto block_bytes = double(model.cache.read_bytes(l));
        layers.push_back({{.ahead_bytes = std::min(double(ring_bytes), weights_s * link_bytes_per_s),
                           .cpu_s_per_byte = *cpu * errors.cpu_attention,
                           .link_s_per_byte = 1 / link_bytes_per_s,
                           .dram_s_per_byte = 1 / *rates->dram_read_bytes_per_s,
                           .hand_off_s = *device.hand_off_s},
                          block_bytes,
                          block_bytes / *device.attention_bytes_per_s});
    }
    return [layers](int l, int on_host, int blocks) {
        const LayerCosts& layer = layers[std::size_t(l)];
        SplitCosts costs = layer.costs;
        costs.resident_s = blocks * layer.resident_s_per_block;
        return blocks_to_stream(on_host, layer.block_bytes, costs);
    };
}

std::optional<double> host_attention_s_per_byte(const ModelOnHost& model, const MachineRates* rates)
{
    if (!rates)
        return std::nullopt;
    const ModelCosts costs = model_costs(model.h, model.weights);
    for (int l = 0; l < model.cache.num_layers(); ++l)
        if (const KvLayerShape& kv = model.cache.layer(l); kv.has_kv() && kv.window == 0)
            return attention_s_per_byte(kv, costs.layers[std::size_t(l)], *rates);
    return std::nullopt;
}

}  // namespace engine
