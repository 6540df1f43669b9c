// KvSlabs gives KV blocks their places on a device. Many lie in one allocation, a slab, so that a block can come or
// leave without a call of the driver's, which may take milliseconds or wait for all that is computed. Slabs are taken
// ahead, on a thread of its own.
#pragma once

#include "engine/device/vram.h"
#include "engine/kv/slab_places.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace engine {

/// Owned by DeviceKv, on its thread. Vram counts the bytes of blocks as Kv, and those of slabs that no block uses as
/// KvAhead.
class KvSlabs
{
public:
    /// `slab_bytes`: of one slab; 0: each block is an allocation of its own, which goes when the block does.
    KvSlabs(Vram& vram, std::size_t slab_bytes);
    ~KvSlabs();  // no block is left
    KvSlabs(const KvSlabs&) = delete;
    KvSlabs& operator=(const KvSlabs&) = delete;

    /// Returns the size for a device with this budget: what is not used of a slab finds room above the watermark.
    static std::size_t slab_bytes_for(const Vram& vram);
    bool has_slabs() const { return slab_bytes_ > 0; }

    /// Returns a place for the owner's block. In a slab its bytes are zero or an earlier block's. DeviceFull,
    /// DeviceLost.
    Result<DevicePtr> take(std::size_t bytes, std::size_t owner);
    void give_back(DevicePtr block, std::size_t bytes);

    /// Takes memory ahead for this many blocks of this size, as long as all that is held stays below `mark`. Does not
    /// wait for it.
    void grow_ahead(std::int64_t blocks, std::size_t block_bytes, std::int64_t mark);
    /// Gives back slabs without blocks until no more than `most` is held.
    void give_up(std::int64_t most);

    /// Returns the owners of all blocks of one slab whose blocks find places in others: take_other() gives these places
    /// until end_emptying(). Empty: there is no such slab.
    std::vector<std::size_t> begin_emptying() { return places_.begin_emptying(); }
    void end_emptying() { places_.end_emptying(); }
    /// Returns a place in the slabs that there are; null: there is none.
    DevicePtr take_other(std::size_t bytes, std::size_t owner);

    int slabs() const { return places_.slabs(); }
    /// Returns the most that blocks leave free where they could not lie in fewer slabs: of each size a part of one.
    std::int64_t unfilled_bytes() const { return std::int64_t(slab_bytes_) * places_.sizes(); }
    /// Waits for slabs that are on their way.
    void settle();

private:
    std::size_t rounded(std::size_t bytes) const;
    std::size_t size_for(std::size_t block_bytes) const;
    Status take_slab(std::size_t block_bytes);
    void add(DevicePtr memory, std::size_t bytes);
    bool release_one();
    void count(std::size_t block_bytes, int sign);
    bool ask_for(std::size_t bytes);
    void take_arrived();
    void wait_for_arrival();
    void work();

    Vram& vram_;
    const std::size_t slab_bytes_;
    SlabPlaces places_;

    // ---- slabs that are taken ahead ----
    struct Arrival {
        std::size_t bytes = 0;
        DevicePtr memory = nullptr;  // null: the device had none
    };
    std::size_t coming_ = 0;  // asked for and not yet taken from arrived_
    std::chrono::steady_clock::time_point not_before_{};
    std::mutex mutex_;
    std::condition_variable asked_, done_;
    std::deque<std::size_t> wanted_;
    std::vector<Arrival> arrived_;
    bool quit_ = false;
    std::thread thread_;  // none until the first
};

}  // namespace engine
