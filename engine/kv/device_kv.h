// DeviceKv holds the KV blocks that lie on a device: one or none of each page and layer. The host's page is their
// mirror: what a step writes is copied there afterwards, so that a block can leave by being forgotten.
#pragma once

#include "engine/device/vram.h"
#include "engine/kv/kv_shape.h"
#include "engine/kv/kv_slabs.h"
#include "engine/kv/page_pool.h"
#include "engine/telemetry.h"

#include <span>
#include <vector>

namespace engine {

class DeviceKv
{
public:
    /// `slab_bytes`: see KvSlabs.
    DeviceKv(Vram& vram, std::span<const KvLayerShape> layers, int page_limit, std::size_t slab_bytes = 0);
    ~DeviceKv();
    DeviceKv(const DeviceKv&) = delete;
    DeviceKv& operator=(const DeviceKv&) = delete;

    bool holds(PageId page, int l) const { return at(page, l).memory != nullptr; }
    /// Returns the block of the first KV head; null when there is none, or its bytes are still on their way.
    DevicePtr block(PageId page, int l) const { return at(page, l).arrived ? at(page, l).memory : nullptr; }
    Residency residency(PageId page, int l) const;

    /// Makes an empty block for rows to come. DeviceFull, DeviceLost; so below.
    Status take(PageId page, int l);
    /// Begins to fill a block from its mirror; it can be used once wait_arrived() or note_arrivals() has said so.
    Status fetch(PageId page, int l, const std::byte* mirror);
    Status wait_arrived(PageId page, int l);
    void note_arrivals();
    /// Forgets a block. Waits for copies from and to it.
    void drop(PageId page, int l);

    /// Takes room for this many blocks of this size ahead, as long as no more than `mark` is held.
    void grow_ahead(std::int64_t blocks, std::size_t bytes, std::int64_t mark)
    {
        slabs_.grow_ahead(blocks, bytes, mark);
    }
    /// Call it between steps. Gives up what was taken ahead until no more than `most` is held, and moves blocks
    /// together for that.
    void keep_within(std::int64_t most);
    /// Returns the most that blocks leave free of their slabs where they could not lie in fewer.
    std::int64_t unfilled_bytes() const { return slabs_.unfilled_bytes(); }
    /// Call it when blocks have got other layouts, and none is here. Gives up what was taken ahead.
    void forget_layouts();
    void settle_slabs() { slabs_.settle(); }

    /// Starts the copy of rows that a step has written.
    Status mirror(PageId page, int l, std::byte* to, int first, int last);
    Status wait_mirrored(PageId page, int l);
    bool mirror_complete(PageId page, int l) const
    {
        return vram_.device().ended(Device::Direction::ToHost, at(page, l).mirrored);
    }

    Vram& vram() const { return vram_; }
    int blocks() const { return blocks_; }
    /// Counts what changes a residency.
    std::uint64_t changes() const { return changes_; }
    std::int64_t bytes() const { return bytes_; }

private:
    struct Block {
        DevicePtr memory = nullptr;
        bool arrived = false;
        Device::Ticket coming = 0;    // of its fetch
        Device::Ticket mirrored = 0;  // of the newest rows on their way to the mirror
    };
    Block& at(PageId page, int l) { return table_[index(page, l)]; }
    const Block& at(PageId page, int l) const { return table_[index(page, l)]; }
    std::size_t index(PageId page, int l) const { return std::size_t(page) * layers_.size() + std::size_t(l); }
    bool needs_clearing() const;
    Result<DevicePtr> place(PageId page, int l);
    bool empty_a_slab();
    bool move(std::size_t i);
    std::size_t block_bytes(int l) const { return layers_[std::size_t(l)].bytes(); }

    Vram& vram_;
    std::span<const KvLayerShape> layers_;
    std::vector<Block> table_;         // (pages, layers)
    std::vector<std::size_t> coming_;  // indices of blocks that have not arrived
    KvSlabs slabs_;
    bool any_left_ = false;  // a block has, since the last fetch: what is still to be computed may read where it lay
    int blocks_ = 0;
    std::uint64_t changes_ = 0;
    std::int64_t bytes_ = 0;
};

}  // namespace engine
