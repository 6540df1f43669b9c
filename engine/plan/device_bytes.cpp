#include "engine/plan/device_bytes.h"

#include "engine/kv/column_rules.h"

#include <algorithm>
#include <cmath>

namespace engine {

std::int64_t DeviceLayout::largest_block() const
{
    std::int64_t travels = 0, any = 0;
    for (const LayerBytes& layer : layers_) {
        any = std::max(any, layer.kv_block);
        if (layer.window == 0)
            travels = std::max(travels, layer.kv_block);
    }
    return travels > 0 ? travels : any;
}

std::int64_t DeviceLayout::largest_matrix() const
{
    std::int64_t bytes = 0;
    for (const LayerBytes& layer : layers_)
        bytes = std::max(bytes, layer.matrix);
    return bytes;
}

int DeviceLayout::slots_of(std::int64_t bytes) const
{
    if (transport_ == Transport::Copies)
        return kFewestRingSlots;
    const std::int64_t slots = kLinkRingBytes / std::max<std::int64_t>(1, bytes);
    return int(std::clamp<std::int64_t>(slots, kFewestRingSlots, kMostRingSlots));
}

int DeviceLayout::expert_ring_slots(int layers, int host_expert_layers) const
{
    for (int l = 0; l < layers; ++l)
        if (leaves_experts(l, host_expert_layers) && layer(l).matrix > 0)
            return slots_of(largest_matrix());
    return 0;
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

std::int64_t DeviceLayout::windows(int layers, int step_blocks) const
{
    std::int64_t bytes = 0;
    for (const LayerBytes& layer : first(layers))
        if (layer.window > 0)
            bytes += layer.kv_block * (layer.window / block_tokens_ + 2 + step_blocks);
    return bytes;
}

std::int64_t DeviceLayout::step_blocks(int layers, std::int64_t kv_bytes) const
{
    // The first block stays, and a step that begins within a block touches one more than it fills.
    const std::int64_t at_rest = windows(layers, 0) + 2 * column(layers);
    return std::max<std::int64_t>(0, kv_bytes - at_rest) / block_row(layers);
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

void DeviceLayout::set_experts_first(std::span<const int> layers)
{
    int rank = 0;
    std::ranges::fill(rank_, -1);
    for (const int l : layers)
        if (l >= 0 && l < num_layers() && rank_[std::size_t(l)] < 0)
            rank_[std::size_t(l)] = rank++;
    for (int& of_layer : rank_)
        if (of_layer < 0)
            of_layer = rank++;
}

int DeviceLayout::all_leave(int layers) const
{
    int last = -1;
    for (int l = 0; l < layers; ++l)
        last = std::max(last, rank(l));
    return last + 1;
}

std::int64_t DeviceLayout::bytes_of_copies(int copies, int layers, int host_expert_layers) const
{
    std::int64_t one_of_each = 0;
    for (int l = 0; l < layers; ++l)
        one_of_each += leaves_experts(l, host_expert_layers) ? layer(l).expert : 0;
    return copies * one_of_each;
}

int DeviceLayout::cached_experts(int layers, int host_expert_layers) const
{
    const std::int64_t one_of_each = bytes_of_copies(1, layers, host_expert_layers);
    std::int64_t most = one_of_each > 0 ? expert_cache_bytes_ / one_of_each : 0;
    for (int l = 0; l < layers; ++l)
        if (leaves_experts(l, host_expert_layers) && layer(l).expert > 0)
            most = std::min(most, layer(l).experts / layer(l).expert);
    return int(most);
}

int DeviceLayout::most_experts() const
{
    std::int64_t most = 0;
    for (const LayerBytes& layer : layers_)
        if (layer.expert > 0)
            most = std::max(most, layer.experts / layer.expert);
    return int(most);
}

DeviceBytes DeviceLayout::needed(int layers, int host_expert_layers, int columns) const
{
    DeviceBytes bytes;
    for (const LayerBytes& layer : first(layers)) {
        bytes.weights += layer.weights;
        bytes.state += layer.state;
    }
    for (int l = 0; l < layers; ++l)
        bytes.weights -= leaves_experts(l, host_expert_layers) ? layer(l).experts : 0;
    bytes.expert_cache = bytes_of_copies(cached_experts(layers, host_expert_layers), layers, host_expert_layers);
    bytes.kv = columns * column(layers) + windows(layers, kStepBlocks);
    bytes.ring = ring_bytes() + expert_ring_slots(layers, host_expert_layers) * largest_matrix();
    bytes.scratch = scratch_bytes(layers);
    return bytes;
}

std::int64_t DeviceLayout::device_size(int host_expert_layers, int fit_tokens, double watermark) const
{
    // A smaller device would not be given all layers.
    const std::int64_t least = needed(num_layers(), host_expert_layers, kFewestColumns).total();
    const int columns = std::max(kFewestColumns, (fit_tokens + block_tokens_ - 1) / block_tokens_);
    // Windows are widest in a long step only, and KV may use that room between steps. A model with experts needs both,
    // since experts would give way.
    const std::int64_t widened = has_experts() ? 0 : windows(num_layers(), kStepBlocks) - windows(num_layers(), 0);
    const std::int64_t bytes = std::max(least, needed(num_layers(), host_expert_layers, columns).total() - widened);
    return std::int64_t(std::ceil(double(bytes) / watermark)) + 1;
}

}  // namespace engine
