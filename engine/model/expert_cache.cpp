#include "engine/model/expert_cache.h"

#include "engine/model/device_weights.h"

#include <utility>

namespace engine {

/// Calls visit(matrix) for each of the expert's.
template <class Visit>
static void for_each_of(ExpertMatrices& expert, const Visit& visit)
{
    for (Matrix* m : {&expert.gate, &expert.up, &expert.down})
        if (*m)
            visit(*m);
}

ExpertMatrices expert_of(const LayerWeights& w, int expert)
{
    const auto of = [&](const Matrix& stack) { return stack ? stack.expert(expert) : Matrix(); };
    return {of(w.gate_experts), of(w.up_experts), of(w.down_experts)};
}

std::int64_t ExpertCache::slot_bytes(const LayerWeights& w)
{
    ExpertMatrices any = expert_of(w, 0);
    std::size_t bytes = 0;
    for_each_of(any, [&](const Matrix& m) { bytes += aligned_on_device(m.bytes()); });
    return std::int64_t(bytes);
}

Result<ExpertCache> ExpertCache::make(Vram& vram, ExpertTraffic& traffic, const LayerWeights& on_host, int experts,
                                      int places)
{
    const auto slot = std::size_t(slot_bytes(on_host));
    const auto memory = vram.take(Vram::Use::ExpertCache, slot * std::size_t(places));
    if (!memory)
        return tl::unexpected(memory.error());
    try {
        return ExpertCache(vram, traffic, *memory, slot, experts, places);
    } catch (...) {
        vram.give_back(Vram::Use::ExpertCache, *memory, slot * std::size_t(places));
        throw;
    }
}

ExpertCache::ExpertCache(Vram& vram, ExpertTraffic& traffic, DevicePtr memory, std::size_t slot_bytes, int experts,
                         int places)
    : vram_(&vram)
    , traffic_(&traffic)
    , memory_(memory)
    , slot_bytes_(slot_bytes)
    , bytes_(slot_bytes * std::size_t(places))
    , slots_(experts, places)
    , in_slot_(std::size_t(places))
{
}

ExpertCache::ExpertCache(ExpertCache&& other) noexcept
    : vram_(other.vram_)
    , traffic_(other.traffic_)
    , memory_(std::exchange(other.memory_, nullptr))
    , slot_bytes_(other.slot_bytes_)
    , bytes_(other.bytes_)
    , slots_(std::move(other.slots_))
    , in_slot_(std::move(other.in_slot_))
    , coming_(other.coming_)
    , ticket_(other.ticket_)
    , hits_(other.hits_)
    , misses_(other.misses_)
    , settled_(other.settled_)
    , settling_(other.settling_)
{
}

ExpertCache::~ExpertCache()
{
    if (!memory_)
        return;
    (void)vram_->device().wait(Device::Direction::ToDevice, ticket_);
    vram_->give_back(Vram::Use::ExpertCache, memory_, bytes_);
}

void ExpertCache::take_arrived()
{
    if (coming_.expert == ExpertSlots::kNone || !vram_->device().ended(Device::Direction::ToDevice, ticket_))
        return;
    slots_.put(coming_);
    coming_ = {};
}

void ExpertCache::begin_step(int tokens)
{
    slots_.begin_step(tokens);
    settling_ = tokens != 1 || slots_.filled() < places() - 1;  // a copy may be on its way to one of them
}

DevicePtr ExpertCache::place_of(int expert) const
{
    const int slot = slots_.slot_of(expert);
    return slot == ExpertSlots::kNone ? nullptr : memory_ + std::size_t(slot) * slot_bytes_;
}

ExpertMatrices ExpertCache::within_slot(const LayerWeights& w)
{
    ExpertMatrices matrices = expert_of(w, 0);
    std::size_t at = 0;
    for_each_of(matrices, [&](Matrix& m) {
        const std::size_t bytes = aligned_on_device(m.bytes());
        m.data = reinterpret_cast<const std::byte*>(at);
        at += bytes;
    });
    return matrices;
}

const ExpertMatrices* ExpertCache::use(int expert, int tokens)
{
    slots_.note(expert, tokens);
    const int slot = slots_.slot_of(expert);
    ++(slot == ExpertSlots::kNone ? misses_ : hits_);
    if (!settling_) {
        ++settled_.uses;
        settled_.hits += slot != ExpertSlots::kNone;
    }
    return slot == ExpertSlots::kNone ? nullptr : &in_slot_[std::size_t(slot)];
}

bool ExpertCache::refill(const LayerWeights& on_host)
{
    Device& device = vram_->device();
    if (coming_.expert != ExpertSlots::kNone || !device.ended(Device::Direction::ToDevice, traffic_->newest))
        return false;
    const auto change = slots_.wanted();
    if (!change || !device.copy_after_compute(Device::Direction::ToDevice))
        return false;
    slots_.clear(change->slot);
    ExpertMatrices& expert = in_slot_[std::size_t(change->slot)];
    expert = expert_of(on_host, change->expert);
    DevicePtr to = memory_ + std::size_t(change->slot) * slot_bytes_;
    bool all = true;
    for_each_of(expert, [&](Matrix& m) {
        const auto copied = all ? device.to_device(m.data, to, m.bytes()) : Result<Device::Ticket>(0);
        all = all && copied;
        if (!all)
            return;
        ticket_ = traffic_->newest = *copied;
        m.data = to;
        to += aligned_on_device(m.bytes());
    });
    if (all)
        coming_ = *change;
    return all;
}

}  // namespace engine
