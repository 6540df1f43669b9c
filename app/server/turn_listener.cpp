#include "app/server/turn_listener.h"

#include "app/server/dialect.h"

#include <algorithm>
#include <utility>

namespace server {

namespace {

/// Letters and digits only, nine of them: Mistral's templates take no other.
std::string new_call_id()
{
    return new_id("").substr(0, 9);
}

double seconds(Clock::duration duration)
{
    return std::chrono::duration<double>(duration).count();
}

}  // namespace

TurnListener::TurnListener(const Ask& ask, TurnEvents& events, Metrics& metrics, Clock::time_point asked)
    : ask_(ask)
    , events_(events)
    , metrics_(metrics)
    , asked_(asked)
    , begun_(Clock::now())
    , splitter_([this](ThoughtSplitter::Kind kind, std::string_view text) { on_piece(kind, text); },
                !ask.thoughts_in_text)
    , bound_(ask.least_indent, ask.most_time)
{
    if (!ask.turn.tools_json.empty())
        call_reader_.emplace(Json::parse(ask.turn.tools_json, nullptr, false),
                             ToolCallReader::Sink{[this](std::string_view text) { put(TextPiece{std::string(text)}); },
                                                  [this](const std::string& name) { on_call(name); },
                                                  [this](std::string_view piece) { on_arguments(piece); },
                                                  [this] { on_call_end(); }});
}

engine::Listener TurnListener::listener()
{
    engine::Listener listener;
    listener.on_prompt = [this](const engine::PromptLedger& ledger) {
        prompt_tokens_ = ledger.total_tokens;
        events_.put(Started{ledger.total_tokens});
    };
    listener.on_text = [this](std::string_view text) { on_text(text); };
    listener.on_token = [this](const engine::TokenLogprobs& token) { tokens_.push_back(token); };
    return listener;
}

void TurnListener::on_frame(const engine::Telemetry& frame)
{
    const bool reads_prompt = frame.phase == engine::Phase::Prefill && frame.generated_tokens == 0;
    if (ask_.reports_progress && reads_prompt)
        events_.put(Progress{frame.prompt_tokens, frame.reused_tokens, frame.reused_tokens + frame.prefilled_tokens,
                             seconds(Clock::now() - begun_)});
}

void TurnListener::on_text(std::string_view text)
{
    const auto now = Clock::now();
    if (first_text_ == Clock::time_point()) {
        first_text_ = now;
        metrics_.add_first_token(seconds(now - asked_));
    } else {
        metrics_.add_token_gap(seconds(now - last_text_));
    }
    last_text_ = now;
    if (ask_.thoughts_in_text && !call_reader_)
        return put_within_bounds(text);  // thoughts stay in the text, so nothing has to be split
    splitter_.feed(text);
    thought_tokens_ += splitter_.thinks() ? 1 : 0;
}

void TurnListener::put_within_bounds(std::string_view text)
{
    text = bound_.take(text, last_text_ - first_text_);
    if (!text.empty())
        put(TextPiece{std::string(text)});
    if (bound_.is_over())
        events_.cancel();
}

void TurnListener::on_piece(ThoughtSplitter::Kind kind, std::string_view text)
{
    if (kind == ThoughtSplitter::Kind::Answer && call_reader_)
        call_reader_->feed(text);
    else if (kind == ThoughtSplitter::Kind::Answer || ask_.thoughts_in_text)
        put(TextPiece{std::string(text)});
    else if (ask_.shows_thoughts)
        put(ThoughtPiece{std::string(text)});
}

/// Queues the piece behind the tokens of which it is made.
void TurnListener::put(TurnEvent piece)
{
    tell_tokens();
    events_.put(std::move(piece));
}

void TurnListener::tell_tokens()
{
    if (!tokens_.empty())
        events_.put(TokenPiece{std::exchange(tokens_, {})});
}

void TurnListener::on_call(const std::string& name)
{
    if (has_enough_calls_)
        return;  // the turn was told to end with the first
    escapes_ = {};
    put(CallBegun{calls_++, new_call_id(), name});
}

void TurnListener::on_arguments(std::string_view piece)
{
    if (!has_enough_calls_)
        put(CallArguments{calls_ - 1, escapes_.escaped(piece)});
}

void TurnListener::on_call_end()
{
    if (!ask_.one_call || has_enough_calls_)
        return;
    has_enough_calls_ = true;
    events_.cancel();
}

void TurnListener::end(const engine::Result<engine::Turn>& turn, int context_tokens)
{
    if (!turn) {
        Refusal refusal = refusal_of(turn.error());
        if (refusal.prompt_tokens == 0)
            refusal.prompt_tokens = prompt_tokens_;  // the memory for it ran out later
        refusal.context_tokens = context_tokens;
        events_.put(Failed{std::move(refusal)});
        return;
    }
    splitter_.finish();
    if (call_reader_)
        call_reader_->finish();
    const bool cut_off = bound_.is_over();
    if (turn->reason != engine::StopReason::StopString && !cut_off)  // what was cut off is no part of the answer
        tell_tokens();
    const engine::Telemetry& t = turn->telemetry;
    Ended ended;
    ended.reason = cut_off ? engine::StopReason::MaxTokens : turn->reason;
    ended.stop_string = turn->stop_string;
    ended.seed = turn->seed;
    ended.calls = calls_;
    ended.prompt_tokens = turn->prompt.count();
    ended.cached_tokens = t.reused_tokens;
    ended.answer_tokens = turn->answer.count();
    ended.thought_tokens = std::min(thought_tokens_, ended.answer_tokens);
    ended.drafted_tokens = t.drafted_tokens;
    ended.accepted_tokens = t.accepted_tokens;
    const auto now = Clock::now(), first = first_text_ == Clock::time_point() ? now : first_text_;
    ended.waited_s = seconds(begun_ - asked_);
    ended.prompt_s = seconds(first - begun_);
    ended.answer_s = seconds(now - first);
    const bool broken_off = turn->reason == engine::StopReason::Cancelled && !has_enough_calls_ && !cut_off;
    if (broken_off && calls_ == 0)
        metrics_.add_cancelled();
    metrics_.add_turn(ended);
    // A client that has left reads neither. If it has not left, the desk is closing, and the part of the answer that
    // has come must not be taken for the whole.
    if (broken_off)
        events_.put(Failed{{Refusal::Kind::Busy, "the answer was broken off: the server is about to stop"}});
    else
        events_.put(ended);
}

}  // namespace server
