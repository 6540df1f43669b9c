#include "engine/run/frames.h"

#include "engine/metrics/clock.h"

#include <algorithm>

namespace engine {

constexpr std::int64_t kSlowIntervalUs = 200'000;

static void add_device(Telemetry& t, const DeviceTelemetry& device)
{
    t.weight_bytes_device = device.weight_bytes;
    // Copied experts lie in both. A device counts whole lines of its memory, so that all of a small model may take more
    // there than in its file.
    const std::int64_t moved = device.weight_bytes - device.expert_cache_bytes;
    t.weight_bytes_host = std::max<std::int64_t>(0, t.weight_bytes_host - moved);
    t.kv_bytes_device = device.kv_bytes;
    t.kv_blocks_device = device.kv_blocks;
    t.kv_blocks_host -= t.kv_blocks_device;
    t.kv_bytes_host -= t.kv_bytes_device;
    t.device = device;
}

/// Says where the experts lie now.
static ExpertMap expert_map(const LoadedModel& model, const ExpertCounts* chosen)
{
    const OnDevice* const device = model.placement().device();
    ExpertMap map;
    map.layers = model.info().layers;
    map.experts = model.info().experts;
    map.places.assign(map.at(map.layers, 0), ExpertMap::Place::Host);
    for (int l = 0; l < map.layers; ++l) {
        const bool has_experts = bool(model.parts().weights.layers[std::size_t(l)].router);
        for (int e = 0; e < map.experts; ++e) {
            ExpertMap::Place& place = map.places[map.at(l, e)];
            if (!has_experts)
                place = ExpertMap::Place::None;
            else if (!device || l >= device->layers())
                place = ExpertMap::Place::Host;
            else if (device->has_experts_of(l))
                place = ExpertMap::Place::Device;
            else if (const ExpertCache* cache = device->expert_cache(l); cache && cache->has(e))
                place = ExpertMap::Place::Copy;
        }
    }
    map.in_answer = chosen ? chosen->in_answer() : std::vector<std::uint32_t>(map.places.size());
    map.in_conversation = chosen ? chosen->in_conversation() : std::vector<std::uint32_t>(map.places.size());
    map.counted_on_device = !device || !device->is_gpu();
    return map;
}

Telemetry Frames::make(const LoadedModel& model, const KvSequence& sequence, const ExpertCounts* chosen, Phase phase)
{
    last_us_ = now_us();
    refresh_map(model, sequence, phase != Phase::Idle);
    refresh_experts(model, chosen, phase != Phase::Idle);
    refresh_memory(phase != Phase::Idle);
    Telemetry t;
    t.phase = phase;
    t.time_us = last_us_;
    t.context_tokens = sequence.length();
    t.context_limit = model.context_tokens();
    t.weight_bytes_host = model.weight_bytes();
    t.kv_blocks_host = model.cache().used_pages() * model.cache().kv_layers();
    t.kv_bytes_host = std::int64_t(model.cache().used_pages()) * std::int64_t(model.cache().page_bytes());
    t.state_bytes_host = std::int64_t(model.cache().states().used()) * std::int64_t(model.cache().states().bytes());
    t.kv_map = map_;
    t.expert_map = experts_;
    if (const auto device = model.placement().telemetry())
        add_device(t, *device);
    t.scratch_bytes = model.scratch_bytes();
    t.threads = model.cpu().threads();
    t.cores = cores_;
    t.process_resident_bytes = process_.resident_bytes;
    t.process_swapped_bytes = process_.swapped_bytes;
    t.ram_total_bytes = memory_.total_bytes;
    t.ram_available_bytes = memory_.available_bytes;
    return t;
}

void Frames::refresh_memory(bool may_wait)
{
    if (may_wait && last_us_ - memory_us_ < kSlowIntervalUs)
        return;
    if (cores_ == 0)
        cores_ = physical_cores();
    process_ = process_memory();
    memory_ = host_memory();
    memory_us_ = last_us_;
}

void Frames::refresh_experts(const LoadedModel& model, const ExpertCounts* chosen, bool may_wait)
{
    if (model.info().experts == 0 || (experts_ && may_wait && last_us_ - experts_us_ < kSlowIntervalUs))
        return;
    experts_ = std::make_shared<const ExpertMap>(expert_map(model, chosen));
    experts_us_ = last_us_;
}

void Frames::refresh_map(const LoadedModel& model, const KvSequence& sequence, bool may_wait)
{
    const std::uint64_t changes = model.placement().kv_changes();
    const bool same = map_ && map_changes_ == changes && map_pages_ == sequence.pages && map_state_ == sequence.state;
    if (same || (map_ && may_wait && last_us_ - map_us_ < kSlowIntervalUs))
        return;
    map_ = std::make_shared<const KvMap>(model.placement().kv_map(sequence));
    map_pages_ = sequence.pages;
    map_state_ = sequence.state;
    map_changes_ = changes;
    map_us_ = last_us_;
}

}  // namespace engine
