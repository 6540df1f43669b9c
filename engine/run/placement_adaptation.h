// PlacementAdaptation gives Adaptation the times of steps on a device, and predicts those of others.
#pragma once

#include "engine/plan/model_costs.h"
#include "engine/run/adaptation.h"
#include "engine/run/experts_plan.h"

#include <cstdint>
#include <optional>

namespace engine {

/// Owned by ModelPlacement, which makes the changes.
class PlacementAdaptation
{
public:
    explicit PlacementAdaptation(const ModelOnHost& model)
        : model_(model)
    {
    }

    /// Begins on this device, whose rates were not compared with steps yet.
    void begin(const OnDevice& device, const PlacementOptions& options);
    /// Says whether `auto` chooses by the machine's rates there.
    bool goes_by_rates(const PlacementOptions& options) const
    {
        return rates_are_known_ && options.kv_policy == KvPolicy::Auto;
    }
    void forget_steps() { adaptation_.forget_steps(); }
    void forget_change() { adaptation_.forget_change(); }

    /// Call it after a step of one row. Where the answer is not empty, `auto` goes by assumed() from now on; the event
    /// says why.
    std::optional<Event> note_step(const OnDevice& device, const PlacementOptions& options, const ExpertsPlan& experts,
                                   int context_tokens, const PlainStep& step);
    const Assumptions& assumed() const { return adaptation_.assumed(); }

private:
    static constexpr int kLooksPerSkew = 16;  // choosing experts anew takes a while

    StepsSeen seen(const OnDevice& device, const PlainStep& step) const;
    std::optional<double> skew_seen(const OnDevice& device);
    PlannedPlacement planned(const OnDevice& device, const PlacementOptions& options, const ExpertsPlan& experts,
                             int context_tokens, const Assumptions& assumed) const;
    std::optional<double> foretell(PlannedPlacement planned, const MachineRates& rates, int context_tokens,
                                   const Assumptions& truth) const;

    ModelOnHost model_;
    Adaptation adaptation_;
    ModelCosts costs_;
    int looks_ = 0;
    bool rates_are_known_ = false;
    std::optional<double> host_attention_s_per_byte_;  // by the rates
};

}  // namespace engine
