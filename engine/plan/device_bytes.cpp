#include "engine/plan/device_bytes.h"

#include "engine/kv/column_rules.h"

#include <algorithm>
#include <cmath>

namespace engine {

std::int64_t DeviceLayout::largest_block() const
{
    std::int64_t bytes = 0;
    for (const LayerBytes& layer : layers_)
        bytes = std::max(bytes, layer.kv_block);
    return bytes;
}

int DeviceLayout::ring_slots() const
{
    if (transport_ == Transport::Copies)
        return kFewestRingSlots;
    const std::int64_t slots = kLinkRingBytes / std::max<std::int64_t>(1, largest_block());
    return int(std::clamp<std::int64_t>(slots, kFewestRingSlots, kMostRingSlots));
}

std::int64_t DeviceLayout::column(int layers) const
{
    std::int64_t bytes = 0;
    for (const LayerBytes& layer : first(layers))
        if (layer.window == 0)
            bytes += layer.kv_block;
    return bytes;
}

std::int64_t DeviceLayout::block_row(int layers) const
{
    std::int64_t bytes = 0;
    for (const LayerBytes& layer : first(layers))
        bytes += layer.kv_block;
    return bytes;
}

std::int64_t DeviceLayout::windows(int layers) const
{
    std::int64_t bytes = 0;
    for (const LayerBytes& layer : first(layers))
        if (layer.window > 0)
            bytes += layer.kv_block * (layer.window / block_tokens_ + 2);
    return bytes;
}

std::int64_t DeviceLayout::windows_at(int layers, int position) const
{
    std::int64_t bytes = 0;
    for (const LayerBytes& layer : first(layers))
        if (layer.window > 0)
            bytes += layer.kv_block * window_blocks(position, layer.window, block_tokens_);
    return bytes;
}

bool DeviceLayout::has_experts() const
{
    return std::ranges::any_of(layers_, [](const LayerBytes& layer) { return layer.experts > 0; });
}

/// What one expert of each of the first layers takes together.
static std::int64_t one_of_each(std::span<const LayerBytes> layers)
{
    std::int64_t bytes = 0;
    for (const LayerBytes& layer : layers)
        bytes += layer.expert;
    return bytes;
}

int DeviceLayout::cached_experts(int layers) const
{
    const std::int64_t one = one_of_each(first(layers));
    std::int64_t most = one > 0 ? expert_cache_bytes_ / one : 0;
    for (const LayerBytes& layer : first(layers))
        if (layer.expert > 0)
            most = std::min(most, layer.experts / layer.expert);
    return int(most);
}

DeviceBytes DeviceLayout::needed(int layers, int host_expert_layers, int columns) const
{
    DeviceBytes bytes;
    for (const LayerBytes& layer : first(layers)) {
        bytes.weights += layer.weights;
        bytes.state += layer.state;
    }
    for (const LayerBytes& layer : first(std::min(layers, host_expert_layers)))
        bytes.weights -= layer.experts;
    const int on_host = std::min(layers, host_expert_layers);
    bytes.expert_cache = cached_experts(on_host) * one_of_each(first(on_host));
    bytes.kv = columns * column(layers) + windows(layers);
    bytes.ring = ring_bytes();
    bytes.scratch = scratch_bytes(layers);
    return bytes;
}

std::int64_t DeviceLayout::device_size(int host_expert_layers, int fit_tokens, double watermark) const
{
    // With fewer columns not all layers would be put there.
    const int columns = std::max(kFewestColumns, (fit_tokens + block_tokens_ - 1) / block_tokens_);
    const std::int64_t bytes = needed(num_layers(), host_expert_layers, columns).total();
    return std::int64_t(std::ceil(double(bytes) / watermark)) + 1;
}

}  // namespace engine
