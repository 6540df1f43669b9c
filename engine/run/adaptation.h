// Adaptation checks now and then whether `auto` would choose otherwise by what was measured since. It predicts what a
// change would save, and undoes a change that did not save it.
//
// `auto` goes by assumptions: how far off the machine's rates are in a step, and how often tokens find copies of
// experts. How long the CPU attends is measured in every step in which it does. The link's time is hidden by the GPU's
// work; it follows from the time of a step, once steps without the link have shown how long the rest takes. What is not
// in use, or is hidden, cannot be measured: it is tried now and then, less often each time that it does not pay.
#pragma once

#include "engine/plan/predict.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>

namespace engine {

/// Holds the assumptions by which `auto` chooses.
struct Assumptions {
    RateErrors errors;
    double expert_skew = 1;  // see expected_hits()
    bool operator==(const Assumptions&) const = default;
};

/// Holds what was measured of a step that computed a single row.
struct PlainStep {
    double seconds = 0;           // from token to token
    double host_attention_s = 0;  // of it, the CPU's attention over KV of device layers
};

/// Sums over steps of one row, between which no command moved anything.
struct StepsSeen {
    int steps = 0;
    double seconds = 0;                    // from token to token
    double host_attention_s = 0;           // the CPU's, over KV of device layers
    double host_attention_by_rates_s = 0;  // how long that should have taken
    bool spilled = false;                  // KV of device layers lay on the host
    bool streamed = false;                 // some of it travelled

    StepsSeen& operator+=(const StepsSeen& more);
    double step_s() const { return seconds / std::max(1, steps); }
    bool attended() const { return host_attention_by_rates_s > 0; }
};

/// Returns the seconds of the next step where `auto` goes by `assumed`, and `truth` holds. Empty: not all rates are
/// known.
using Foretell = std::function<std::optional<double>(const Assumptions& assumed, const Assumptions& truth)>;

/// Holds the result of look(), and seconds of a step.
struct AdaptationStep {
    enum class What { Changed, Kept, TakenBack };
    What what = What::Changed;
    bool trial = false;  // of something that cannot be measured
    double before_s = 0;
    double expected_s = 0;                  // with the change
    std::optional<double> measured_s = {};  // with it, once it was seen
};

/// Pure arithmetic: it reads no clock and moves nothing. Owned by ModelPlacement.
class Adaptation
{
public:
    static constexpr int kLookEvery = 32, kFew = 6;  // steps
    static constexpr double kWorthIt = 0.02;         // share of a step: a smaller gain changes nothing
    static constexpr double kWorthATrial = 0.05;     // the same for trials
    static constexpr double kFar = 1.2;
    static constexpr int kFirstPause = 2, kLongestPause = 128;  // calls of look(), after a change that did not pay

    explicit Adaptation(const Assumptions& assumed = {})
        : assumed_(assumed)
        , known_(assumed)
    {
    }

    const Assumptions& assumed() const { return assumed_; }

    /// Call it when layers have moved: the time of steps before says nothing of that of steps from now on.
    void forget_steps();
    /// Call it when something else is changed by a command: a change that was made before is not judged.
    void forget_change();
    void add(const StepsSeen& steps) { seen_ += steps; }
    bool due() const { return seen_.steps >= kLookEvery || fails(); }
    /// Call it when it is due. `expert_skew`: as measured; empty: it was not. Where the answer is not empty, assumed()
    /// has changed, or a change has been found to pay.
    std::optional<AdaptationStep> look(std::optional<double> expert_skew, const Foretell& foretell);

private:
    struct Change {
        Assumptions before, known;  // known: what had been measured then
        double before_s = 0;        // of a step
        double foretold_s = 0;      // seconds of that step as predicted by `before`
        double share = 0;           // the share of a step that it should save
        bool trial = false;
    };
    struct Pause {
        int left = 0, next = kFirstPause;  // looks
        void begin() { left = next; }
        void grow() { next = std::min(2 * next, kLongestPause); }
        bool over() { return left-- <= 0; }
    };

    /// Says whether the change has failed: a few steps are enough to see that it makes them far longer.
    bool fails() const { return change_ && seen_.steps >= kFew && seen_.step_s() > kFar * change_->before_s; }
    void learn(const StepsSeen& seen, std::optional<double> expert_skew, const Foretell& foretell);
    void learn_cpu(double error);
    void learn_link(double step_s, const Foretell& foretell);
    std::optional<AdaptationStep> judge(double step_s, const Foretell& foretell);
    void keep(const Change& change);
    void take_back(const Change& change, bool slower);
    std::optional<AdaptationStep> propose(const StepsSeen& seen, const Foretell& foretell);
    Assumptions hoped(bool attended);
    std::size_t next_hope();
    std::optional<AdaptationStep> change(const Assumptions& to, double least, bool trial, double step_s,
                                         const Foretell& foretell);

    Assumptions assumed_;
    Assumptions known_;             // what holds, as far as it was measured
    bool link_seen_ = false;        // by the latest steps
    std::optional<double> rest_s_;  // of steps without KV on the host: their time beyond the predicted one
    StepsSeen seen_;                // since the last look
    std::optional<Change> change_;  // not judged yet
    bool settling_ = false;         // copies of experts come one by one
    Pause pause_, trial_pause_{kFirstPause};
    std::size_t hope_ = 0;    // the index of the next factor to try
    bool hope_kept_ = false;  // the last trial was kept, and the CPU's attention was not measured since
};

}  // namespace engine
