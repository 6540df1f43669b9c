#include "engine/kv/device_kv.h"

#include <algorithm>

namespace engine {

DeviceKv::DeviceKv(Vram& vram, std::span<const KvLayerShape> layers, int page_limit)
    : vram_(vram)
    , layers_(layers)
    , table_(std::size_t(page_limit) * layers.size())
{
    coming_.reserve(table_.size());
}

DeviceKv::~DeviceKv()
{
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

Status DeviceKv::take(PageId page, int l)
{
    const auto memory = vram_.take(Vram::Use::Kv, block_bytes(l));
    if (!memory)
        return tl::unexpected(memory.error());
    at(page, l) = {*memory, true, 0, 0};
    ++blocks_;
    ++changes_;
    bytes_ += std::int64_t(block_bytes(l));
    // Attention reads whole groups of 16 keys; those not yet written must at least be numbers.
    return vram_.device().clear(*memory, block_bytes(l));
}

Status DeviceKv::fetch(PageId page, int l, const std::byte* mirror)
{
    const auto memory = vram_.take(Vram::Use::Kv, block_bytes(l));
    if (!memory)
        return tl::unexpected(memory.error());
    const auto coming = vram_.device().to_device(mirror, *memory, block_bytes(l));
    if (!coming) {
        vram_.give_back(Vram::Use::Kv, *memory, block_bytes(l));
        return tl::unexpected(coming.error());
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
    (void)wait_mirrored(page, l);
    vram_.give_back(Vram::Use::Kv, block.memory, block_bytes(l));
    block = {};
    --blocks_;
    ++changes_;
    bytes_ -= std::int64_t(block_bytes(l));
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
