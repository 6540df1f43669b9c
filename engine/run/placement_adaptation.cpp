#include "engine/run/placement_adaptation.h"

#include "engine/plan/expert_hits.h"
#include "engine/run/adaptation_words.h"
#include "engine/run/events.h"
#include "engine/run/stream_choice.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace engine {

void PlacementAdaptation::begin(const OnDevice& device, const PlacementOptions& options)
{
    adaptation_ = Adaptation({{}, options.expert_skew.value_or(kExpectedSkew)});
    costs_ = model_costs(model_.h, model_.weights);
    host_attention_s_per_byte_ = host_attention_s_per_byte(model_, options.rates.get());
    const PlannedDevice there = *device.placement(options).device;
    rates_are_known_ =
        there.cores == DeviceCores::Own && stream_choice(model_, options.rates.get(), there.rates, 0, {});
}

std::optional<Event> PlacementAdaptation::note_step(const OnDevice& device, const PlacementOptions& options,
                                                    const ExpertsPlan& experts, int context_tokens,
                                                    const PlainStep& step)
{
    adaptation_.add(seen(device, step));
    if (!adaptation_.due())
        return std::nullopt;
    std::vector<std::pair<Assumptions, PlannedPlacement>> known;  // each once
    const auto planned_by = [&](const Assumptions& assumed) {
        const auto found = std::ranges::find(known, assumed, &std::pair<Assumptions, PlannedPlacement>::first);
        return found != known.end()
                   ? found->second
                   : known.emplace_back(assumed, planned(device, options, experts, context_tokens, assumed)).second;
    };
    const Assumptions before = assumed();
    const auto looked = adaptation_.look(skew_seen(device), [&](const Assumptions& by, const Assumptions& truth) {
        return foretell(planned_by(by), *options.rates, context_tokens, truth);
    });
    if (!looked)
        return std::nullopt;
    Event event = make_event(Event::Kind::Adapted, sentence_of(*looked, before, assumed()));
    event.adaptation = AdaptationTimes{looked->before_s, looked->expected_s, looked->measured_s};
    return event;
}

StepsSeen PlacementAdaptation::seen(const OnDevice& device, const PlainStep& step) const
{
    StepsSeen seen{.steps = 1, .seconds = step.seconds};
    const auto attended = double(device.pager().attended_on_host_bytes());
    seen.streamed = device.pager().streamed_bytes() > 0;
    seen.spilled = seen.streamed || attended > 0;
    if (attended > 0 && host_attention_s_per_byte_) {
        seen.host_attention_s = step.host_attention_s;
        seen.host_attention_by_rates_s = attended * *host_attention_s_per_byte_;
    }
    return seen;
}

/// Returns the skew that was measured. Empty: it was not looked for this time, or is about the assumed one.
std::optional<double> PlacementAdaptation::skew_seen(const OnDevice& device)
{
    const auto skew = looks_++ % kLooksPerSkew == 0 ? device.observed_skew() : std::nullopt;
    return skew && clearly_other_skew(*skew, assumed().expert_skew) ? skew : std::nullopt;
}

/// Returns the placement that `auto` chooses by these assumptions, for the step after this many tokens: with the
/// experts as they lie now, or as it would choose them by another skew.
PlannedPlacement PlacementAdaptation::planned(const OnDevice& device, const PlacementOptions& options,
                                              const ExpertsPlan& experts, int context_tokens,
                                              const Assumptions& assumed) const
{
    PlannedPlacement placement = device.placement(options);
    PlannedDevice& there = *placement.device;
    there.errors = assumed.errors;
    there.divided_by = assumed.errors;
    there.share.expert_skew = assumed.expert_skew;
    DeviceChoice choice{device.layers(), experts.host_layers(), there.share.layout.expert_cache_bytes()};
    if (!options.expert_cache_bytes && assumed.expert_skew != options.expert_skew.value_or(kExpectedSkew)) {
        const int block = model_.cache.block_tokens();
        there.share.layers = device.planned_layers(options);
        choice = choose_tenants(costs_, placement, options.rates.get(), (context_tokens + block) / block,
                                {options.device_layers.has_value(), experts.most_copies()});
    }
    there.share = with_choice(std::move(there.share), choice);
    return placement;
}

/// Returns the seconds of that step where `truth` holds. Empty: a rate is not known.
std::optional<double> PlacementAdaptation::foretell(PlannedPlacement planned, const MachineRates& rates,
                                                    int context_tokens, const Assumptions& truth) const
{
    planned.device->errors = truth.errors;
    planned.device->share.expert_skew = truth.expert_skew;
    return step_seconds(costs_, planned, rates, context_tokens);
}

}  // namespace engine
