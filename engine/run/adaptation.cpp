#include "engine/run/adaptation.h"

#include <cmath>
#include <iterator>
#include <utility>

namespace engine {

namespace {

constexpr double kMostOff = 16;   // a larger factor is no error of the rates, but something else
constexpr double kNoise = 0.005;  // of the mean of as many steps as are looked at
/// Factors to try for the time of something that cannot be measured now: large steps first, then smaller ones. Where
/// other work hides the link, it is not slower than known.
constexpr double kHopes[] = {0.25, 4, 0.5, 2, 0.7, 1.4};

double bounded(double error)
{
    return std::clamp(error, 1 / kMostOff, kMostOff);
}

/// The larger it is, the more KV travels over the link.
double lean(const RateErrors& errors)
{
    return errors.cpu_attention / errors.link;
}

}  // namespace

StepsSeen& StepsSeen::operator+=(const StepsSeen& more)
{
    steps += more.steps;
    seconds += more.seconds;
    host_attention_s += more.host_attention_s;
    host_attention_by_rates_s += more.host_attention_by_rates_s;
    spilled = spilled || more.spilled;
    streamed = streamed || more.streamed;
    return *this;
}

void Adaptation::forget_steps()
{
    seen_ = {};
    rest_s_.reset();
}

void Adaptation::forget_change()
{
    seen_ = {};
    change_.reset();
    settling_ = false;
}

std::optional<AdaptationStep> Adaptation::look(std::optional<double> expert_skew, const Foretell& foretell)
{
    const StepsSeen seen = std::exchange(seen_, {});
    if (std::exchange(settling_, false))
        return std::nullopt;
    learn(seen, expert_skew, foretell);
    return change_ ? judge(seen.step_s(), foretell) : propose(seen, foretell);
}

void Adaptation::learn(const StepsSeen& seen, std::optional<double> expert_skew, const Foretell& foretell)
{
    known_.expert_skew = expert_skew.value_or(assumed_.expert_skew);
    if (seen.attended())
        learn_cpu(bounded(seen.host_attention_s / seen.host_attention_by_rates_s));
    if (!seen.streamed)
        link_seen_ = false;
    else if (rest_s_)
        learn_link(seen.step_s() - *rest_s_, foretell);
    if (!seen.spilled)
        if (const auto foretold = foretell(assumed_, known_))
            rest_s_ = seen.step_s() - *foretold;
}

/// A division that was tried and kept stays as it is: when the CPU's error is measured, the link's is set so that the
/// ratio of the two stays.
void Adaptation::learn_cpu(double error)
{
    known_.errors.cpu_attention = error;
    if (!std::exchange(hope_kept_, false))
        return;
    assumed_.errors.link = bounded(error / lean(assumed_.errors));
    assumed_.errors.cpu_attention = error;
    if (!link_seen_)
        known_.errors.link = assumed_.errors.link;
}

/// Finds the error of the link's rate with which a step takes as long as it did. Where other work hides the link, it
/// may be faster than that.
void Adaptation::learn_link(double step_s, const Foretell& foretell)
{
    const double longest = step_s * (1 + kNoise);
    const auto with = [&](double error) {
        Assumptions truth = known_;
        truth.errors.link = error;
        return foretell(assumed_, truth).value_or(0);
    };
    double faster = 1 / kMostOff, slower = kMostOff;
    if (with(faster) > longest || with(slower) < longest)
        return;  // that is not the link's doing
    link_seen_ = with(faster) < step_s * (1 - 3 * kNoise);
    for (int halving = 0; halving < 20; ++halving) {
        const double middle = std::sqrt(faster * slower);
        (with(middle) < longest ? faster : slower) = middle;
    }
    known_.errors.link = link_seen_ ? faster : std::min(known_.errors.link, faster);
}

/// Judges a change by the time of a step; the time before it is corrected for what the conversation has grown since.
std::optional<AdaptationStep> Adaptation::judge(double step_s, const Foretell& foretell)
{
    const Change change = *std::exchange(change_, std::nullopt);
    const auto foretold = foretell(change.before, change.known);
    if (!foretold)
        return std::nullopt;
    const double before_s = change.before_s * *foretold / change.foretold_s;
    const bool pays = step_s <= before_s * (1 - kWorthIt / 2);
    pays ? keep(change) : take_back(change, step_s > before_s * (1 + kWorthIt / 2));
    return AdaptationStep{pays ? AdaptationStep::What::Kept : AdaptationStep::What::TakenBack, change.trial, before_s,
                          before_s * (1 - change.share), step_s};
}

void Adaptation::keep(const Change& change)
{
    pause_.next = trial_pause_.next = kFirstPause;
    if (!change.trial || link_seen_)
        return;
    known_.errors.link = assumed_.errors.link;
    hope_kept_ = true;
    hope_ += std::size(kHopes) - (rest_s_ ? 2 : 1);  // tries the same factor once more
}

void Adaptation::take_back(const Change& change, bool slower)
{
    const bool more_travelled = lean(assumed_.errors) > lean(change.before.errors);
    settling_ = assumed_.expert_skew != change.before.expert_skew;
    assumed_ = change.before;
    if (change.trial) {
        trial_pause_.grow();
    } else {
        pause_.begin();
        pause_.grow();
        if (slower && !link_seen_)  // the CPU's time is measured, so it is the link's that differs from what was known
            known_.errors.link = bounded(known_.errors.link * (more_travelled ? 2 : 0.5));
    }
    trial_pause_.begin();
}

std::optional<AdaptationStep> Adaptation::propose(const StepsSeen& seen, const Foretell& foretell)
{
    if (!pause_.over())
        return std::nullopt;
    if (const auto changed = change(known_, kWorthIt, false, seen.step_s(), foretell))
        return changed;
    const bool all_is_seen = seen.attended() && link_seen_;
    if (!seen.spilled || all_is_seen || !trial_pause_.over())
        return std::nullopt;
    trial_pause_.begin();
    return change(hoped(seen.attended()), kWorthATrial, true, seen.step_s(), foretell);
}

std::size_t Adaptation::next_hope()
{
    if (rest_s_)
        hope_ += hope_ % 2;
    const std::size_t next = hope_ % std::size(kHopes);
    hope_ += rest_s_ ? 2 : 1;
    return next;
}

/// Returns assumptions under which something that is not in use, and so cannot be measured, would pay.
Assumptions Adaptation::hoped(bool attended)
{
    Assumptions hoped = known_;
    if (attended || (!link_seen_ && hope_ % 2 == 1))
        hoped.errors.link = bounded(hoped.errors.link * kHopes[next_hope()]);
    else {
        hoped.errors.cpu_attention = bounded(hoped.errors.cpu_attention * kHopes[0]);
        ++hope_;
    }
    return hoped;
}

/// Lets `auto` choose by the assumptions `to` from now on, if a step on a machine for which they hold then takes less
/// time, by a share of `least` or more. Otherwise changes nothing and returns nothing.
std::optional<AdaptationStep> Adaptation::change(const Assumptions& to, double least, bool trial, double step_s,
                                                 const Foretell& foretell)
{
    const auto now = foretell(assumed_, to), then = foretell(to, to), known = foretell(assumed_, known_);
    if (!now || !then || !known || *then > *now * (1 - least))
        return std::nullopt;
    change_ = Change{assumed_, known_, step_s, *known, 1 - *then / *now, trial};
    settling_ = to.expert_skew != assumed_.expert_skew;
    assumed_ = to;
    return AdaptationStep{AdaptationStep::What::Changed, trial, step_s, step_s * *then / *now};
}

}  // namespace engine
