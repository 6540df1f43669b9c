// TurnStepper goes through one turn step by step: what is new of the prompt is computed, then tokens are sampled,
// streamed and computed until something ends the answer. Tokens that may come next are drafted and computed along;
// those are accepted that the sampler chooses.
#pragma once

#include "engine/engine.h"
#include "engine/kv/lost_tokens.h"
#include "engine/run/answer_rules.h"
#include "engine/run/answer_text.h"
#include "engine/run/conversation.h"
#include "engine/run/drafted_step.h"
#include "engine/run/lack_of_room.h"
#include "engine/run/loaded_model.h"
#include "engine/run/turn_meter.h"
#include "engine/sampling/sampler.h"

#include <functional>
#include <optional>
#include <stop_token>

namespace engine {

/// A recurrent state cannot be cut: at most this many tokens are computed again where there is no better checkpoint.
constexpr int kCheckpointTokens = 4096;

/// Holds what a turn needs from the engine that runs it.
struct TurnHost {
    LoadedModel& model;
    Frames& frames;
    Listener listener;
    std::stop_token stop;
    std::function<bool(Conversation&)> make_room;  // frees KV of other conversations; false: there is none
    SavedStart saved = {};
    std::function<void()> forget_saved = {};  // the file is damaged
    SequenceId sequence = 0;                  // of the conversation, for frames
    DraftModel* draft = nullptr;              // null: there is none; so below
    MtpModel* mtp = nullptr;
};

/// A turn computes nothing itself. next() gives the rows that are to be computed, the caller computes them, beside rows
/// of other turns or not, and take() goes on from there. So the same turn may be one of many in a step.
class TurnStepper
{
public:
    TurnStepper(TurnHost host, Conversation& conversation, Request request, std::uint64_t seed);

    /// Computes the whole turn, with no other beside it; between_steps() before each of its steps.
    Result<Turn> run(const std::function<void()>& between_steps);

    /// Makes the prompt, and finds what the conversation has of it. An error: there is no such turn.
    Status begin();
    bool over() const { return stage_ == Stage::Over; }
    /// Says whether what was saved of the conversation is still to be brought back: restore_more() brings a piece, and
    /// the turn has no rows in that step.
    bool restores() const { return stage_ == Stage::Restore; }
    void restore_more();
    /// Looks whether KV of the conversation is lost. Call it before each step.
    void find_lost() { engine::find_lost(host_.model.cache(), conversation_.kv); }
    /// Says whether its next rows are lost tokens, which are computed again like a prompt, a piece in each step.
    bool recomputes() const { return !conversation_.kv.lost.empty(); }
    /// Says whether its next rows are an answer's; else they are the prompt's, or lost ones.
    bool answers() const { return stage_ == Stage::Answer && !recomputes(); }
    /// Sets whether other turns run, too; none do until this is called.
    void set_company(Company company) { company_ = company; }
    /// Returns how many rows it could have in the next step, one at least. Precondition here and below: it is not over,
    /// and restores nothing.
    int most_rows() const;
    /// Ends the turn if its stop token asks for that. It may be called at any time, as cancel() may.
    void heed_stop();
    /// Returns the next rows, `rows` at most. They are valid until take().
    RowGroup next(int rows);
    /// Computes the rows of next() by themselves. Where there is no room, drafts are left out, then other conversations
    /// give up their KV.
    Status compute_alone();
    /// Takes over the rows of next(), which were computed, or why they were not; `alone`: no other turn had rows in
    /// that step.
    void take(const Status& done, bool alone);
    /// Says that the rows of next() are not computed now: it will be called again.
    void put_off()
    {
        step_.forget();
        held_up_ = true;
    }
    /// Ends the turn, which has failed with an exception: nothing more is done.
    void break_off(const Error& error);
    /// Ends the turn as if its stop token had asked for that, unless it is over.
    void cancel();
    /// Returns what became of the turn. Precondition: it is over.
    Result<Turn> result();

private:
    enum class Stage { Restore, Prompt, Answer, Over };

    void give_back_restored();
    void begin_prompt();
    void tell_of_saved();
    void take_prompt_rows();
    void take_lost_rows();
    int rows_from(int first, int last) const;
    int prompt_rows() const { return rows_from(prefilled_, turn_.prompt.last); }
    int lost_rows() const;
    void answer();
    TokenFrom token_from() const;
    int most_tokens() const;
    void allow_drafts();
    bool may_draft(Drafters by) const;
    bool notes_rows() const { return host_.mtp && conversation_.mtp && may_draft(Drafters::Mtp); }
    void note_rows(int first, int count);
    int length() const { return conversation_.kv.length() + int(conversation_.kv.lost.size()) - step_.unjudged(); }
    int most_drafted(int rows) const;
    void end_step();
    void keep_state();
    void fail_with(const Error& error);
    void end(StopReason reason);
    void end_full(const Error& error);
    Status make_rules();
    struct Chosen {
        int id = 0;
        RowLogits logits;  // from which it was chosen
    };
    Result<std::optional<Chosen>> choose();
    int sample(const RowLogits& logits, const TokenMask* allowed);
    bool tells_tokens() const { return request_.top_logprobs && host_.listener.on_token; }
    void tell_token(int id, std::span<const float> logits);
    void note_nearly_full();
    void report(Phase phase, bool always);
    Telemetry frame(Phase phase);
    StepClock& clock() { return host_.model.clock(); }
    std::vector<int> ids_of_text() const;
    void keep_reply();

    TurnHost host_;
    Conversation& conversation_;
    Request request_;
    Stage stage_ = Stage::Prompt;
    Turn turn_;
    OpenedThought opened_;
    std::optional<Error> error_;
    Sampler sampler_;
    std::unique_ptr<AnswerRules> rules_;  // null: none
    AnswerText text_;
    TurnMeter meter_;
    std::vector<int> history_;      // prompt and answer
    std::vector<int> answer_;       // ids of the answer, without the one that ended it
    std::vector<int> checkpoints_;  // positions in the prompt
    bool said_nearly_full_ = false;
    int reused_ = 0;
    int restored_ = 0;
    std::int64_t restore_us_ = 0;  // that it took to restore them
    int prefilled_ = 0;
    int given_rows_ = 0;        // those of them whose time is not yet known
    RowGroup rows_;             // the rows that next() gave
    int kept_at_ = 0;           // tokens at which keep_state() was last called
    DraftedStep step_;          // of the answer
    std::int64_t step_us_ = 0;  // when the step began
    bool alone_ = true;         // in that step, no other turn had rows, and nothing held it up
    bool held_up_ = false;      // since its last step it has waited, or computed lost tokens again
    Company company_ = Company::None;
    std::int64_t last_report_us_ = 0;
};

}  // namespace engine
