#include "engine/model/expert_slots.h"

#include <algorithm>
#include <cmath>

namespace engine {

ExpertSlots::ExpertSlots(int experts, int places)
    : worth_(std::size_t(experts), 0.0)
    , slot_of_(std::size_t(experts), kNone)
    , expert_in_(std::size_t(std::min(places, experts)), kNone)
{
}

void ExpertSlots::begin_step(int tokens)
{
    const double kept_by_one = std::exp2(-1 / kHalfLife);
    const double kept = std::exp2(-tokens / kHalfLife);
    for (double& worth : worth_)
        worth *= kept;
    // Counts as if the tokens that choose an expert were spread evenly over the step.
    of_one_ = (1 - kept) / (1 - kept_by_one) / tokens;
}

void ExpertSlots::note(int expert, int tokens)
{
    worth_[std::size_t(expert)] += of_one_ * tokens;
}

std::optional<ExpertSlots::Change> ExpertSlots::wanted() const
{
    Change best;
    for (int e = 0; e < int(worth_.size()); ++e)
        if (slot_of(e) == kNone && worth_[std::size_t(e)] > 0 &&
            (best.expert == kNone || worth_[std::size_t(e)] > worth_[std::size_t(best.expert)]))
            best.expert = e;
    if (best.expert == kNone || places() == 0)
        return std::nullopt;
    const auto worth_in = [&](int slot) {
        const int expert = expert_in_[std::size_t(slot)];
        return expert == kNone ? -1.0 : worth_[std::size_t(expert)];
    };
    best.slot = 0;
    for (int slot = 1; slot < places(); ++slot)
        if (worth_in(slot) < worth_in(best.slot))
            best.slot = slot;
    if (worth_[std::size_t(best.expert)] <= kAdvantage * worth_in(best.slot))
        return std::nullopt;
    return best;
}

void ExpertSlots::clear(int slot)
{
    int& expert = expert_in_[std::size_t(slot)];
    if (expert != kNone) {
        slot_of_[std::size_t(expert)] = kNone;
        --filled_;
    }
    expert = kNone;
}

void ExpertSlots::put(const Change& change)
{
    clear(change.slot);
    expert_in_[std::size_t(change.slot)] = change.expert;
    slot_of_[std::size_t(change.expert)] = change.slot;
    ++filled_;
}

}  // namespace engine
