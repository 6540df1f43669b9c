#include "engine/kv/kv_stream.h"

#include <algorithm>

namespace engine {

int KvStream::set_slots(int count, std::size_t slot_bytes)
{
    clear();
    const int kept = slot_bytes == slot_bytes_ ? count : 0;
    while (int(slots_.size()) > kept) {
        // A device that is lost writes no more either.
        (void)vram_.device().wait(Device::Direction::ToDevice, slots_.back().coming);
        vram_.give_back(Vram::Use::Ring, slots_.back().memory, slot_bytes_);
        slots_.pop_back();
    }
    slot_bytes_ = slot_bytes;
    while (int(slots_.size()) < count) {
        const auto memory = vram_.take(Vram::Use::Ring, slot_bytes_);
        if (!memory)
            break;
        slots_.push_back({*memory, 0});
    }
    return int(slots_.size());
}

std::span<const KvStream::Block> KvStream::blocks_of(int layer) const
{
    const auto first = std::lower_bound(blocks_.begin(), blocks_.end(), layer,
                                        [](const Block& block, int l) { return block.layer < l; });
    const auto last =
        std::upper_bound(first, blocks_.end(), layer, [](int l, const Block& block) { return l < block.layer; });
    return {first, last};
}

void KvStream::clear()
{
    if (taken_ < sent_ && !slots_.empty())
        // A device that is lost writes no more either.
        (void)vram_.device().wait(Device::Direction::ToDevice, slots_[(sent_ - 1) % slots_.size()].coming);
    read_ = taken_ = sent_ = waited_ = layer_began_ = 0;
    blocks_.clear();
    streamed_bytes_ = 0;
}

void KvStream::start()
{
    read_ = taken_ = sent_ = waited_ = layer_began_ = 0;
    streamed_bytes_ = 0;
    status_ = {};
    if (!blocks_.empty())
        refill();
}

/// Fills the slots again, after what is still to be computed has read them.
void KvStream::refill()
{
    if (status_)
        status_ = vram_.device().copy_after_compute(Device::Direction::ToDevice);
    fill();
}

void KvStream::fill()
{
    for (; sent_ < blocks_.size() && sent_ - read_ < slots_.size() && status_; ++sent_) {
        Slot& slot = slots_[sent_ % slots_.size()];
        const auto batch = ends_run(sent_) ? Device::Batch::Ends : Device::Batch::GoesOn;
        const auto coming = vram_.device().to_device(blocks_[sent_].mirror, slot.memory, blocks_[sent_].bytes, batch);
        if (!coming) {
            status_ = tl::unexpected(coming.error());
            return;
        }
        slot.coming = *coming;
        streamed_bytes_ += blocks_[sent_].bytes;
    }
}

/// Says whether blocks up to this one are taken together, and waited for. Call it for one after another.
bool KvStream::ends_run(std::size_t block)
{
    if (block > 0 && blocks_[block - 1].layer != blocks_[block].layer)
        layer_began_ = block;
    const bool ends_layer = block + 1 == blocks_.size() || blocks_[block + 1].layer != blocks_[block].layer;
    return ends_layer || (block + 1 - layer_began_) % longest_run() == 0;
}

bool KvStream::ready() const
{
    const Device& device = vram_.device();
    return taken_ < sent_ &&
           (device.orders_itself() || device.ended(Device::Direction::ToDevice, slots_[taken_ % slots_.size()].coming));
}

/// Returns the most blocks of a run. A device that computes while the host goes on is given half the ring at a time:
/// the other half is being filled.
std::size_t KvStream::longest_run() const
{
    return vram_.device().orders_itself() ? (slots_.size() + 1) / 2 : slots_.size();
}

bool KvStream::may_take() const
{
    return taken_ - read_ < longest_run();
}

const std::byte* KvStream::take()
{
    const std::size_t block = taken_++;
    if (block >= sent_)  // the device failed
        return blocks_[block].mirror;
    return slots_[block % slots_.size()].memory;
}

/// Waits for the last of the blocks that were taken, which is enough: they come in their order.
void KvStream::wait_for_taken()
{
    const std::size_t last = std::min(taken_, sent_);
    if (last <= waited_ || !status_)
        return;
    status_ = vram_.device().compute_after(Device::Direction::ToDevice, slots_[(last - 1) % slots_.size()].coming);
    waited_ = last;
}

void KvStream::release()
{
    read_ = taken_;
    if (sent_ < blocks_.size())
        refill();
}

}  // namespace engine
