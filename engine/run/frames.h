// What a frame of telemetry says whether a turn runs or not: where a model's bytes and a conversation's KV lie.
#pragma once

#include "engine/run/loaded_model.h"

namespace engine {

/// Makes frames of one loaded model. Keeps the KV map of the newest one, which costs a look at every block: it is made
/// anew when a block has moved, and while an answer runs no more than five times a second.
class Frames
{
public:
    static constexpr std::int64_t kIntervalUs = 50'000;  // about 20 frames a second

    /// Without what only a turn knows: of the conversation its length and its map.
    Telemetry make(const LoadedModel& model, const KvSequence& sequence, Phase phase);

    std::int64_t last_us() const { return last_us_; }

private:
    void refresh_map(const LoadedModel& model, const KvSequence& sequence, bool may_wait);

    std::shared_ptr<const KvMap> map_;
    std::vector<PageId> map_pages_;  // that the map shows
    std::uint64_t map_changes_ = 0;  // ModelPlacement::kv_changes() then
    std::int64_t map_us_ = 0;
    std::int64_t last_us_ = 0;
};

}  // namespace engine
