#include "engine/kv/slab_places.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace engine {

SlabPlaces::Order SlabPlaces::order_of(Slabs::const_iterator slab)
{
    const Slab& s = slab->second;
    return s.empty() ? Order{0, s.bytes, slab->first} : Order{s.block_bytes, s.free.size(), slab->first};
}

/// Changes a slab and moves it to its new place in the order, without an allocation.
template <class Change>
void SlabPlaces::change(Slabs::iterator slab, const Change& change)
{
    const auto count = [&](int sign) {
        if (!slab->second.empty())
            free_[slab->second.block_bytes] += sign * std::int64_t(slab->second.free.size());
    };
    auto node = order_.extract(order_of(slab));
    count(-1);
    change(slab->second);
    count(1);
    node.value() = order_of(slab);
    order_.insert(std::move(node));
}

void SlabPlaces::add(Memory memory, std::size_t bytes)
{
    Slab slab;
    slab.bytes = bytes;
    const auto added = slabs_.emplace(memory, std::move(slab)).first;
    try {
        order_.insert(order_of(added));
    } catch (...) {
        slabs_.erase(added);
        throw;
    }
}

std::optional<SlabPlaces::Range> SlabPlaces::remove_empty()
{
    const auto after = order_.lower_bound(Order{1, 0, nullptr});
    if (after == order_.begin())
        return std::nullopt;
    const auto largest = std::prev(after);
    const Range range{largest->memory, largest->free};
    slabs_.erase(range.first);
    order_.erase(largest);
    if (slabs_.empty())
        free_.clear();  // blocks to come may have other sizes
    return range;
}

void SlabPlaces::divide(Slab& slab, std::size_t block_bytes)
{
    if (slab.block_bytes == block_bytes)
        return;  // it has been so before, or has blocks
    const std::size_t places = slab.bytes / block_bytes;
    std::vector<std::size_t> owners(places, kNobody);
    std::vector<std::uint32_t> free(places);
    for (std::size_t i = 0; i < places; ++i)
        free[i] = std::uint32_t(places - 1 - i);
    slab.block_bytes = block_bytes;
    slab.owners.swap(owners);
    slab.free.swap(free);
}

/// Finds the first slab from `least` on whose places are of this size, or that has no blocks and is as large.
SlabPlaces::Slabs::iterator SlabPlaces::find(const Order& least, std::size_t block_bytes)
{
    auto found = order_.lower_bound(least);
    if (found != order_.end() && found->memory == emptied_)
        ++found;
    return found == order_.end() || found->block_bytes != block_bytes ? slabs_.end() : slabs_.find(found->memory);
}

SlabPlaces::Memory SlabPlaces::take(std::size_t block_bytes, std::size_t owner)
{
    auto slab = find(Order{block_bytes, 1, nullptr}, block_bytes);
    if (slab == slabs_.end())
        slab = find(Order{0, block_bytes, nullptr}, 0);
    if (slab == slabs_.end())
        return nullptr;
    divide(slab->second, block_bytes);
    free_.try_emplace(block_bytes);
    std::uint32_t place = 0;
    change(slab, [&](Slab& s) {
        place = s.free.back();
        s.free.pop_back();
        s.owners[place] = owner;
    });
    return slab->first + place * block_bytes;
}

bool SlabPlaces::give_back(Memory place)
{
    const auto slab = std::prev(slabs_.upper_bound(place));
    change(slab, [&](Slab& s) {
        const std::size_t at = std::size_t(place - slab->first) / s.block_bytes;
        s.owners[at] = kNobody;
        s.free.push_back(std::uint32_t(at));
    });
    return slab->second.empty();
}

std::int64_t SlabPlaces::places(std::size_t block_bytes, std::int64_t enough) const
{
    const auto known = free_.find(block_bytes);
    std::int64_t places = known == free_.end() ? 0 : known->second;
    for (auto empty = order_.lower_bound(Order{0, block_bytes, nullptr});
         empty != order_.end() && empty->block_bytes == 0 && places < enough; ++empty)
        places += std::int64_t(empty->free / block_bytes);
    return places;
}

std::vector<std::size_t> SlabPlaces::begin_emptying()
{
    const Slab* emptiest = nullptr;
    std::size_t fewest = std::numeric_limits<std::size_t>::max();
    for (const auto& [memory, slab] : slabs_) {
        const std::size_t blocks = slab.owners.size() - slab.free.size();
        const bool can_go = blocks > 0 && std::size_t(free_[slab.block_bytes]) - slab.free.size() >= blocks;
        if (!can_go || blocks * slab.block_bytes >= fewest)
            continue;
        emptiest = &slab;
        emptied_ = memory;
        fewest = blocks * slab.block_bytes;
    }
    std::vector<std::size_t> owners;
    if (emptiest)
        std::ranges::copy_if(emptiest->owners, std::back_inserter(owners),
                             [](std::size_t owner) { return owner != kNobody; });
    return owners;
}

}  // namespace engine
