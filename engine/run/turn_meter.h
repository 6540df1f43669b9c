// TurnMeter measures one turn: how long its prompt and its tokens take, and what that time goes to.
#pragma once

#include "engine/metrics/rates.h"
#include "engine/metrics/step_clock.h"
#include "engine/run/adaptation.h"
#include "engine/telemetry.h"

#include <cstdint>
#include <optional>

namespace engine {

/// Says where the logits of a token come from.
enum class TokenFrom {
    PlainStep,  // a step in which its row was all that was computed
    Step,       // the first row of any other step
    SameStep,   // a later row of the step that the token before came from: it had been drafted
};

class TurnMeter
{
public:
    /// Begins the turn now.
    explicit TurnMeter(StepClock& clock);

    /// Counts `tokens` of the prompt that were computed in `duration_us`.
    void add_prefill(int tokens, std::int64_t duration_us);
    /// Counts a token of the answer that is there now. From the first one on, the clock's shares are the answer's;
    /// where it has rows in steps of others, it waits for all that those take. Returns the times of a plain step that
    /// was not the first.
    std::optional<PlainStep> add_token(TokenFrom from);

    /// Fills in the times that are known by now. `link_is_seen` false: the host does not wait for KV on its way to the
    /// device, so that this time is unknown.
    void fill(Telemetry& frame, bool link_is_seen) const;

private:
    StepShares shares(bool link_is_seen) const;

    StepClock& clock_;
    TurnRates rates_;
    std::int64_t start_us_;
    std::int64_t prefill_us_ = 0;  // computing the prompt
    std::optional<std::int64_t> first_token_us_;
    std::int64_t last_token_us_ = 0;
    int steps_ = 0;  // after the first token
    int plain_steps_ = 0;
    std::int64_t plain_us_ = 0;
    StepClock::Seconds first_ = {}, last_ = {};  // the clock's readings at the first and the last token
};

}  // namespace engine
