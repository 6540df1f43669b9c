// Computes what the first layers of a model take of a device's memory: the one place that adds these bytes up. Pure
// arithmetic, used by the automatic fit, for the pager's first limits and for what is said before a model is loaded.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace engine {

/// One layer, as a device holds it.
struct LayerBytes {
    std::int64_t weights = 0;   // alignment included
    std::int64_t experts = 0;   // of them, of routed experts: they may stay on the host
    std::int64_t expert = 0;    // one of these, as a cache of experts holds it
    std::int64_t matrix = 0;    // the largest of one, where they come to the device for steps of many rows; else 0
    std::int64_t kv_block = 0;  // one KV block: `block_tokens` tokens of all KV heads
    int window = 0;             // tokens that a token sees; 0: all
    std::int64_t state = 0;     // of a recurrent layer, for the one sequence whose state lies there
};

struct DeviceBytes {
    std::int64_t weights = 0;
    std::int64_t expert_cache = 0;
    std::int64_t kv = 0;
    std::int64_t state = 0;
    std::int64_t ring = 0;
    std::int64_t scratch = 0;
    std::int64_t total() const { return weights + expert_cache + kv + state + ring + scratch; }
};

/// A model's layers and what they need on a device. Values only.
class DeviceLayout
{
public:
    /// Says how bytes get from one memory to the other: copied by the host's own cores, which reach their rate with any
    /// block, or through a link, which needs megabytes under way for that.
    enum class Transport { Copies, Link };

    /// `scratch_bytes`: what the decoder computes in, on the device.
    DeviceLayout(std::vector<LayerBytes> layers, int block_tokens, std::int64_t scratch_bytes, Transport transport)
        : layers_(std::move(layers))
        , block_tokens_(block_tokens)
        , scratch_bytes_(scratch_bytes)
        , transport_(transport)
        , rank_(layers_.size())
    {
        set_experts_first({});
    }

    Transport transport() const { return transport_; }

    static constexpr int kFewestRingSlots = 4, kMostRingSlots = 32;
    /// The size of a ring that a link fills: one half is attended, some hundred microseconds' worth, while the other is
    /// filled.
    static constexpr std::int64_t kLinkRingBytes = std::int64_t(16) << 20;
    /// Returns the slots of the ring that host blocks travel through; each holds the largest block that does.
    int ring_slots() const { return slots_of(largest_block()); }
    std::int64_t ring_bytes() const { return ring_slots() * largest_block(); }
    /// Does the same for the experts that the first `layers` leave on the host; 0: none of them comes to the device.
    int expert_ring_slots(int layers, int host_expert_layers) const;
    std::int64_t largest_matrix() const;  // each of these holds it
    /// Columns that must find room beside the layers before one more is put on a device: the first, the last, and two
    /// to spare.
    static constexpr int kFewestColumns = 4;
    /// A step of a prompt may fill this many of these blocks, in sliding layers as well.
    static constexpr int kStepBlocks = kFewestColumns - 2;

    int num_layers() const { return int(layers_.size()); }
    int block_tokens() const { return block_tokens_; }
    const LayerBytes& layer(int l) const { return layers_[std::size_t(l)]; }
    /// Call it when the types of the layer's keys and values have changed.
    void set_kv_block(int l, std::int64_t bytes) { layers_[std::size_t(l)].kv_block = bytes; }
    /// Returns the largest block of the layers that see everything, if there are any: no others' travel.
    std::int64_t largest_block() const;
    /// Lets the layer's experts come to the device for steps of many rows, in matrices of this many bytes at most; 0:
    /// they do not come.
    void set_matrix(int l, std::int64_t bytes) { layers_[std::size_t(l)].matrix = bytes; }

    /// Returns the bytes of a block column: a block in each of the first `layers` that see everything. KV leaves by
    /// columns.
    std::int64_t column(int layers) const;
    /// Returns the bytes of a block in each of the first `layers`, of whatever kind.
    std::int64_t block_row(int layers) const;
    /// Returns the most bytes that the sliding ones among the first `layers` hold beside a step of this many blocks: a
    /// window touches one block more than it fills, and the next one is begun before the oldest is done with.
    std::int64_t windows(int layers, int step_blocks) const;
    /// Returns how many blocks a step may fill where the KV of the first `layers` has this many bytes. Some of them
    /// keep KV.
    std::int64_t step_blocks(int layers, std::int64_t kv_bytes) const;
    /// Returns the bytes that windows hold when the token at `position` has been computed by itself.
    std::int64_t windows_at(int layers, int position) const;

    /// Returns the bytes of scratch. A device behind a link takes it when it is opened; one that computes with the
    /// host's cores needs none for no layers.
    std::int64_t scratch_bytes(int layers) const
    {
        return transport_ == Transport::Copies && layers == 0 ? 0 : scratch_bytes_;
    }

    bool has_experts() const;

    /// Sets the order in which layers leave their experts on the host: these first, then the others by their number.
    void set_experts_first(std::span<const int> layers);
    /// Says whether a layer leaves its experts on the host where this many, the first in that order, do.
    bool leaves_experts(int l, int host_expert_layers) const { return rank_[std::size_t(l)] < host_expert_layers; }
    /// Returns the place of a layer in that order.
    int rank(int l) const { return rank_[std::size_t(l)]; }
    /// Returns the smallest number of layers, in that order, among which all of the first `layers` are.
    int all_leave(int layers) const;

    /// Sets the bytes that copies on the device may take of experts that stay on the host; 0: there are none.
    void set_expert_cache_bytes(std::int64_t bytes) { expert_cache_bytes_ = bytes; }
    std::int64_t expert_cache_bytes() const { return expert_cache_bytes_; }
    /// Returns how many experts of each of the first `layers` that leave theirs on the host have a copy: as many in
    /// each.
    int cached_experts(int layers, int host_expert_layers) const;
    /// Returns the bytes of this many copies of experts in each of these layers.
    std::int64_t bytes_of_copies(int copies, int layers, int host_expert_layers) const;
    /// Returns the most experts of a layer that may have copies; 0: none has.
    int most_experts() const;

    /// Returns the bytes of the first `layers`, of which those among `host_expert_layers` leave their experts on the
    /// host, and this many columns of their KV, windows at their largest.
    DeviceBytes needed(int layers, int host_expert_layers, int columns) const;
    /// Returns the size of a device that has room for all layers, but the experts of this many, and the KV of this many
    /// tokens below a watermark, a share of its size.
    std::int64_t device_size(int host_expert_layers, int fit_tokens, double watermark) const;

private:
    int slots_of(std::int64_t bytes) const;
    std::span<const LayerBytes> first(int layers) const { return std::span(layers_).first(std::size_t(layers)); }

    std::vector<LayerBytes> layers_;
    int block_tokens_;
    std::int64_t scratch_bytes_;
    Transport transport_;
    std::vector<int> rank_;  // (layers,)
    std::int64_t expert_cache_bytes_ = 0;
};

}  // namespace engine
