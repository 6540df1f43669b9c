// KvStream moves host blocks through a ring of slots on the device (policy `stream`): copied ahead in the order in
// which a step attends them, a slot being filled again as soon as its block was read.
#pragma once

#include "engine/device/vram.h"

#include <span>
#include <vector>

namespace engine {

class KvStream
{
public:
    struct Block {
        int layer = 0;
        int number = 0;  // in the sequence
        const std::byte* mirror = nullptr;
        std::size_t bytes = 0;
    };

    /// `most_blocks`: of one step.
    KvStream(Vram& vram, std::size_t most_blocks)
        : vram_(vram)
    {
        blocks_.reserve(most_blocks);
    }
    ~KvStream() { set_slots(0, slot_bytes_); }
    KvStream(const KvStream&) = delete;
    KvStream& operator=(const KvStream&) = delete;

    /// Call it between steps. Takes this many slots, each for a block of this many bytes; fewer when the device has no
    /// more memory; 0 gives all back.
    int set_slots(int count, std::size_t slot_bytes);
    int slot_count() const { return int(slots_.size()); }

    /// Forgets all blocks. Where a step was stopped before it took all of them, waits for the copies first.
    void clear();
    /// Adds a block. Blocks come in the order of their layers, and within a layer in their own.
    void add(const Block& block) { blocks_.push_back(block); }
    /// Begins to copy what was added.
    void start();

    /// Says whether this block is the next to be taken.
    bool next_is(int layer, int number) const
    {
        return taken_ < blocks_.size() && blocks_[taken_].layer == layer && blocks_[taken_].number == number;
    }
    /// Says whether the next block can be taken without waiting.
    bool ready() const;
    bool may_take() const;
    /// Returns where the next block's bytes will be on the device; where the device failed, those of the mirror.
    const std::byte* take();
    /// Lets what is computed from now on begin when all blocks that were taken are there.
    void wait_for_taken();
    /// Call it when all blocks taken so far were read, or will be by what was given to compute: their slots are filled
    /// again.
    void release();

    std::span<const Block> blocks() const { return blocks_; }
    std::span<const Block> blocks_of(int layer) const;
    /// Returns the slot in which the i-th block of the step will be.
    DevicePtr slot_of(std::size_t i) const { return slots_[i % slots_.size()].memory; }

    std::size_t streamed_bytes() const { return streamed_bytes_; }  // of this step
    /// Returns what went wrong since start().
    const Status& status() const { return status_; }

private:
    struct Slot {
        DevicePtr memory = nullptr;
        Device::Ticket coming = 0;
    };
    void refill();
    void fill();
    bool ends_run(std::size_t block);
    std::size_t longest_run() const;

    Vram& vram_;
    std::size_t slot_bytes_ = 0;
    std::vector<Slot> slots_;
    std::vector<Block> blocks_;  // of this step, in order
    // Blocks [0, read_) were read, [read_, taken_) are being read, [taken_, sent_) are in the ring or on their way.
    std::size_t read_ = 0, taken_ = 0, sent_ = 0;
    std::size_t layer_began_ = 0;  // the first block of the layer of the newest block that was sent
    std::size_t waited_ = 0;       // what is computed waits for blocks [0, waited_)
    std::size_t streamed_bytes_ = 0;
    Status status_;
};

}  // namespace engine
