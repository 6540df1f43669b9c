#include "engine/kv/device_kv.h"

#include <algorithm>
#include <utility>

namespace engine {

DeviceKv::DeviceKv(Vram& vram, std::span<const KvLayerShape> layers, int page_limit, std::size_t slab_bytes)
    : vram_(vram)
    , layers_(layers)
    , table_(std::size_t(page_limit) * layers.size())
    , slabs_(vram, slab_bytes)
{
    coming_.reserve(table_.size());
    vram_.set_room_maker([this](std::int64_t bytes) { keep_within(vram_.budget() - bytes); });
}

DeviceKv::~DeviceKv()
{
    vram_.set_room_maker({});
    for (std::size_t i = 0; i < table_.size(); ++i)
        drop(PageId(i / layers_.size()), int(i % layers_.size()));
}

Residency DeviceKv::residency(PageId page, int l) const
{
    const Block& block = at(page, l);
    if (!block.memory)
        return Residency::Host;
    return block.arrived ? Residency::Device : Residency::Moving;
}

/// Attention reads whole groups of 16 keys, so keys not yet written must not be NaN. A slab is zero at first and later
/// holds what earlier blocks left. That is harmless where all blocks have one layout, or where keys and values are
/// fp16, whose stored values are finite wherever they lie.
bool DeviceKv::needs_clearing() const
{
    const auto first = std::ranges::find_if(layers_, &KvLayerShape::has_kv);
    const auto is_like_first = [&](const KvLayerShape& layer) {
        return !layer.has_kv() || (layer.kv_heads == first->kv_heads && layer.block.k_dim == first->block.k_dim &&
                                   layer.block.v_dim == first->block.v_dim);
    };
    const bool halves = first->block.k_type == kernels::KvType::F16 && first->block.v_type == kernels::KvType::F16;
    return !slabs_.has_slabs() || !(halves || std::ranges::all_of(layers_, is_like_first));
}

Status DeviceKv::take(PageId page, int l)
{
    const auto memory = place(page, l);
    if (!memory)
        return tl::unexpected(memory.error());
    at(page, l) = {*memory, true, 0, 0};
    ++blocks_;
    ++changes_;
    bytes_ += std::int64_t(block_bytes(l));
    return needs_clearing() ? vram_.device().clear(*memory, block_bytes(l)) : Status();
}

Result<DevicePtr> DeviceKv::place(PageId page, int l)
{
    auto memory = slabs_.take(block_bytes(l), index(page, l));
    if (!memory && memory.error().code == Error::Code::DeviceFull && slabs_.has_slabs()) {
        // Slabs with blocks of other sizes may have the memory; or the driver has less than the budget says.
        keep_within(std::min(vram_.budget(), vram_.held()) - std::int64_t(block_bytes(l)));
        memory = slabs_.take(block_bytes(l), index(page, l));
    }
    return memory;
}

Status DeviceKv::fetch(PageId page, int l, const std::byte* mirror)
{
    const auto memory = place(page, l);
    if (!memory)
        return tl::unexpected(memory.error());
    Status status = any_left_ ? vram_.device().copy_after_compute(Device::Direction::ToDevice) : Status();
    any_left_ = any_left_ && !status;
    const auto coming = status ? vram_.device().to_device(mirror, *memory, block_bytes(l)) : Result<Device::Ticket>(0);
    if (!status || !coming) {
        slabs_.give_back(*memory, block_bytes(l));
        return status ? Status(tl::unexpected(coming.error())) : status;
    }
    at(page, l) = {*memory, false, *coming, 0};
    coming_.push_back(index(page, l));
    ++blocks_;
    ++changes_;
    bytes_ += std::int64_t(block_bytes(l));
    return {};
}

Status DeviceKv::wait_arrived(PageId page, int l)
{
    Block& block = at(page, l);
    if (block.arrived || !block.memory)
        return {};
    if (Status ok = vram_.device().wait(Device::Direction::ToDevice, block.coming); !ok)
        return ok;
    note_arrivals();
    return {};
}

void DeviceKv::note_arrivals()
{
    std::erase_if(coming_, [&](std::size_t i) {
        table_[i].arrived = vram_.device().ended(Device::Direction::ToDevice, table_[i].coming);
        changes_ += table_[i].arrived ? 1 : 0;
        return table_[i].arrived;
    });
}

void DeviceKv::drop(PageId page, int l)
{
    Block& block = at(page, l);
    if (!block.memory)
        return;
    if (!block.arrived) {
        (void)vram_.device().wait(Device::Direction::ToDevice, block.coming);  // a lost device writes no more either
        std::erase(coming_, index(page, l));
    }
    (void)wait_mirrored(page, l);  // a lost device reads no more, and who needs the host's copy has waited before
    slabs_.give_back(block.memory, block_bytes(l));
    any_left_ = true;
    block = {};
    --blocks_;
    ++changes_;
    bytes_ -= std::int64_t(block_bytes(l));
}

void DeviceKv::keep_within(std::int64_t most)
{
    if (!slabs_.has_slabs() || vram_.held() <= most)
        return;
    slabs_.give_up(most);
    while (vram_.held() > most && empty_a_slab())
        slabs_.give_up(most);
}

void DeviceKv::forget_layouts()
{
    slabs_.give_up(0);
}

/// Moves the blocks of one slab to where others left room. False: there is too little.
bool DeviceKv::empty_a_slab()
{
    const std::vector<std::size_t> blocks = slabs_.begin_emptying();
    const bool moved = std::ranges::all_of(blocks, [this](std::size_t i) { return move(i); });
    slabs_.end_emptying();
    return moved && !blocks.empty();
}

bool DeviceKv::move(std::size_t i)
{
    const auto page = PageId(i / layers_.size());
    const int l = int(i % layers_.size());
    if (!wait_arrived(page, l) || !wait_mirrored(page, l))
        return false;
    const DevicePtr to = slabs_.take_other(block_bytes(l), i);
    if (!to)
        return false;
    const bool moved = bool(vram_.device().copy_within(table_[i].memory, to, block_bytes(l)));
    slabs_.give_back(moved ? std::exchange(table_[i].memory, to) : to, block_bytes(l));
    any_left_ = true;
    return moved;
}

Status DeviceKv::mirror(PageId page, int l, std::byte* to, int first, int last)
{
    Block& block = at(page, l);
    const KvLayerShape& shape = layers_[std::size_t(l)];
    const auto ticket = vram_.device().to_host({shape.block, shape.kv_heads, block.memory, to, first, last});
    if (!ticket)
        return tl::unexpected(ticket.error());
    block.mirrored = *ticket;
    return {};
}

Status DeviceKv::wait_mirrored(PageId page, int l)
{
    if (mirror_complete(page, l))
        return {};
    return vram_.device().wait(Device::Direction::ToHost, at(page, l).mirrored);
}

}  // namespace engine
