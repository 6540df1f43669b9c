// Adaptation checks now and then whether `auto` would choose otherwise if it went by what was measured since. It
// predicts what a change would save, and takes a change back that did not save it.
//
// What `auto` goes by are assumptions: how far off the machine's rates are in a step, and how often tokens find copies
// of experts. How long the CPU attends is seen in every step in which it does. What the link takes hides behind the
// GPU's work; it follows from the time of a step, once steps without it have shown what the rest takes. A way that is
// not in use, or hidden, shows nothing of itself: it is tried now and then, less often each time that it does not pay.
#pragma once

#include "engine/plan/predict.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>

namespace engine {

/// Holds what `auto` goes by.
struct Assumptions {
    RateErrors errors;
    double expert_skew = 1;  // see expected_hits()
    bool operator==(const Assumptions&) const = default;
};

/// A step of which one row was all.
struct PlainStep {
    double seconds = 0;           // from token to token
    double host_attention_s = 0;  // of it, the CPU over KV of device layers
};

/// Steps of one row, between which nothing was moved by hand.
struct StepsSeen {
    int steps = 0;
    double seconds = 0;                    // from token to token
    double host_attention_s = 0;           // the CPU, over KV of device layers
    double host_attention_by_rates_s = 0;  // what that should have taken
    bool spilled = false;                  // KV of device layers lay on the host
    bool streamed = false;                 // some of it travelled

    StepsSeen& operator+=(const StepsSeen& more);
    double step_s() const { return seconds / std::max(1, steps); }
    bool attended() const { return host_attention_by_rates_s > 0; }
};

/// Seconds of the next step where `auto` goes by `assumed`, and `truth` holds. Empty: not all rates are known.
using Foretell = std::function<std::optional<double>(const Assumptions& assumed, const Assumptions& truth)>;

/// Holds what a look has come to, and seconds of a step.
struct AdaptationStep {
    enum class What { Changed, Kept, TakenBack };
    What what = What::Changed;
    bool trial = false;  // of a way of which nothing is seen
    double before_s = 0;
    double expected_s = 0;                  // with the change
    std::optional<double> measured_s = {};  // with it, once it was seen
};

/// Pure arithmetic: it reads no clock and moves nothing. Owned by ModelPlacement.
class Adaptation
{
public:
    static constexpr int kLookEvery = 32, kFew = 6;  // steps
    static constexpr double kWorthIt = 0.02;         // of a step: a smaller gain moves nothing
    static constexpr double kWorthATrial = 0.05;     // the same, of what is only hoped for
    static constexpr double kFar = 1.2;
    static constexpr int kFirstPause = 2, kLongestPause = 128;  // looks, after what did not pay

    explicit Adaptation(const Assumptions& assumed = {})
        : assumed_(assumed)
        , known_(assumed)
    {
    }

    const Assumptions& assumed() const { return assumed_; }

    /// Layers have moved: what steps took before says nothing of what they take now.
    void forget_steps();
    /// Something else is changed by hand: a change that was made before is not judged.
    void forget_change();
    void add(const StepsSeen& steps) { seen_ += steps; }
    bool due() const { return seen_.steps >= kLookEvery || fails(); }
    /// Call it when it is due. `expert_skew`: as was seen; empty: it was not. Where the answer is not empty, assumed()
    /// is another, or has turned out to be worth it.
    std::optional<AdaptationStep> look(std::optional<double> expert_skew, const Foretell& foretell);

private:
    struct Change {
        Assumptions before, known;  // known: what held then, as far as was seen
        double before_s = 0;        // of a step
        double foretold_s = 0;      // of it, by `before`
        double share = 0;           // of a step, that it should save
        bool trial = false;
    };
    struct Pause {
        int left = 0, next = kFirstPause;  // looks
        void begin() { left = next; }
        void grow() { next = std::min(2 * next, kLongestPause); }
        bool over() { return left-- <= 0; }
    };

    /// Few steps are enough to see that a change makes them far longer.
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
    Assumptions known_;             // what holds, as far as it was seen
    bool link_seen_ = false;        // by steps of late
    std::optional<double> rest_s_;  // of steps without KV on the host, beyond what was foretold
    StepsSeen seen_;                // since the last look
    std::optional<Change> change_;  // that is not judged yet
    bool settling_ = false;         // copies of experts come one by one
    Pause pause_, trial_pause_{kFirstPause};
    std::size_t hope_ = 0;    // which is next
    bool hope_kept_ = false;  // what was tried last, and nothing of the CPU was seen since
};

}  // namespace engine
