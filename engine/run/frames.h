// Fills the part of a frame of telemetry that exists without a turn: where a model's bytes and a conversation's KV lie.
#pragma once

#include "engine/expert_map.h"
#include "engine/metrics/expert_counts.h"
#include "engine/metrics/host_probe.h"
#include "engine/run/loaded_model.h"

namespace engine {

/// Makes frames of one loaded model. What takes a look at every block, or a question to the system, is kept from frame
/// to frame: while an answer runs it is made anew at most five times a second, and the KV map only when a block or a
/// state has moved.
class Frames
{
public:
    static constexpr std::int64_t kIntervalUs = 50'000;  // about 20 frames a second

    /// Makes a frame without what only a turn has: of the conversation it has the length and the maps. `chosen`: which
    /// experts its tokens chose; null: none, or the model has no experts.
    Telemetry make(const LoadedModel& model, const KvSequence& sequence, const ExpertCounts* chosen, Phase phase);

    std::int64_t last_us() const { return last_us_; }

private:
    void refresh_map(const LoadedModel& model, const KvSequence& sequence, bool may_wait);
    void refresh_experts(const LoadedModel& model, const ExpertCounts* chosen, bool may_wait);
    void refresh_memory(bool may_wait);

    std::shared_ptr<const KvMap> map_;
    std::vector<PageId> map_pages_;  // pages that the map shows
    StateId map_state_ = kNoState;   // the state that it shows
    std::uint64_t map_changes_ = 0;  // ModelPlacement::kv_changes() when it was made
    std::int64_t map_us_ = 0;
    std::shared_ptr<const ExpertMap> experts_;
    std::int64_t experts_us_ = 0;
    HostMemory memory_;
    ProcessMemory process_;
    int cores_ = 0;
    std::int64_t memory_us_ = 0;
    std::int64_t last_us_ = 0;
};

}  // namespace engine
