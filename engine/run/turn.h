// TurnRunner runs one turn: prefill what is new of the prompt, then sample, stream, and append until something ends the
// answer. What may come next is drafted and computed along; it stands where the sampler chooses it.
#pragma once

#include "engine/engine.h"
#include "engine/run/answer_text.h"
#include "engine/run/conversation.h"
#include "engine/run/draft_length.h"
#include "engine/run/frames.h"
#include "engine/run/loaded_model.h"
#include "engine/run/ngram_index.h"
#include "engine/run/turn_meter.h"
#include "engine/sampling/sampler.h"

#include <functional>
#include <optional>
#include <stop_token>

namespace engine {

/// What a turn needs from the engine that runs it.
struct TurnHost {
    LoadedModel& model;
    Frames& frames;
    const Listener& listener;
    std::stop_token stop;
    std::function<void()> between_steps;           // commands are read here
    std::function<bool(Conversation&)> make_room;  // frees KV of other conversations; false: there is none
    SavedStart saved = {};
    std::function<void()> forget_saved = {};  // the file is damaged
};

class TurnRunner
{
public:
    TurnRunner(TurnHost host, Conversation& conversation, const Request& request, std::uint64_t seed);
    Result<Turn> run();

private:
    Status restore_saved(const std::vector<int>& prompt);
    void tell_of_saved(std::int64_t duration_us);
    Status prefill(const std::vector<int>& prompt);
    Status decode();
    Status step(std::span<const int> tokens);
    int most_tokens() const;
    void allow_drafts();
    bool is_drafted(int id) const;
    int unjudged() const;
    int length() const { return conversation_.kv.length() - unjudged(); }
    std::span<const int> draft();
    Status compute(int id);
    void end_step();
    int sample(const RowLogits& logits);
    void note_nearly_full();
    void report(Phase phase, bool always);
    Telemetry frame(Phase phase);
    StepClock& clock() { return host_.model.clock(); }
    void keep_reply();

    TurnHost host_;
    Conversation& conversation_;
    const Request& request_;
    Turn turn_;
    OpenedThought opened_;
    Sampler sampler_;
    AnswerText text_;
    TurnMeter meter_;
    std::vector<int> history_;  // prompt and answer
    std::vector<int> answer_;   // ids of the answer, without the one that ended it
    bool said_nearly_full_ = false;
    int reused_ = 0;
    int restored_ = 0;
    int prefilled_ = 0;
    int last_row_ = 0;          // of the last step: its logits give the next token
    std::vector<int> step_;     // tokens of the last decode step: its own, then drafted ones. Empty: it is over
    std::int64_t step_us_ = 0;  // when it began
    std::optional<NgramIndex> repeated_;  // empty: nothing is drafted
    DraftLength draft_length_;
    int drafted_ = 0, accepted_ = 0;
    std::int64_t last_report_us_ = 0;
};

}  // namespace engine
