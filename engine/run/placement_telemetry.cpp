// What a placement says of itself.
#include "engine/run/model_placement.h"

namespace engine {

std::optional<DeviceTelemetry> ModelPlacement::telemetry() const
{
    if (!device_)
        return std::nullopt;
    DeviceTelemetry t;
    t.id = std::string(device_->id());
    t.layers = layers();
    t.layers_wanted = wanted_layers();
    t.total_bytes = device_->total_bytes();
    t.other_programs_bytes = device_->other_programs_bytes();
    t.spilled_bytes = device_->spilled_bytes();
    t.budget_bytes = vram_->budget();
    t.watermark_bytes = vram_->high_mark();
    t.weight_bytes = vram_->used(Vram::Use::Weights);
    t.kv_bytes = vram_->used(Vram::Use::Kv);
    t.ring_bytes = vram_->used(Vram::Use::Ring);
    t.scratch_bytes = vram_->used(Vram::Use::Scratch);
    t.to_device_bytes = moved_to_device_ + device_->bytes_moved(Device::Road::ToDevice);
    t.to_host_bytes = moved_to_host_ + device_->bytes_moved(Device::Road::ToHost);
    t.kv_blocks = device_kv_->blocks();
    t.step_streamed_bytes = pager_->streamed_bytes();
    t.step_attended_on_host_bytes = pager_->attended_on_host_bytes();
    return t;
}

std::optional<std::int64_t> ModelPlacement::device_peak_bytes() const
{
    return device_ ? std::optional(vram_->peak()) : std::nullopt;
}

static_assert(int(KvMap::Place::Host) == int(Residency::Host) && int(KvMap::Place::Device) == int(Residency::Device) &&
              int(KvMap::Place::Moving) == int(Residency::Moving));

KvMap ModelPlacement::kv_map(const KvSequence& sequence) const
{
    KvMap map;
    map.block_tokens = cache_.block_tokens();
    map.layers = cache_.num_layers();
    map.columns = int(sequence.pages.size());
    map.cells.reserve(sequence.pages.size() * std::size_t(map.layers));
    for (int b = 0; b < map.columns; ++b) {
        const PageId page = sequence.pages[std::size_t(b)];
        const std::uint8_t pin = pager_ && pager_->pinned(page) ? KvMap::kPinned : 0;
        for (int l = 0; l < map.layers; ++l) {
            auto place = KvMap::Place(cache_.residency(page, l));
            if (place == KvMap::Place::Host && l < layers() && b < cache_.layer(l).first_block(sequence.length()))
                place = KvMap::Place::Window;
            map.cells.push_back(std::uint8_t(std::uint8_t(place) | pin));
        }
    }
    return map;
}

}  // namespace engine
