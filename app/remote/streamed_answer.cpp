#include "app/remote/streamed_answer.h"

#include "app/remote/server_failure.h"

#include <algorithm>

namespace remote {

namespace {

using FailureKind = net::Failure::Kind;

constexpr std::size_t kLongestWhole = 4 << 20, kLongestText = 32 << 20;  // bytes
constexpr std::chrono::milliseconds kProgressInterval{30};
// The last tokens of a context are not always usable: servers keep some back.
constexpr int kContextMargin = 16;
constexpr double kNearlyFull = 0.9;

AnswerReader::Thought thought_before(const engine::Request& request)
{
    return request.continue_last && !request.messages.empty() ? thought_at_end(request.messages.back().text)
                                                              : AnswerReader::Thought::None;
}

}  // namespace

StreamedAnswer::StreamedAnswer(const std::string& host, const engine::Request& request,
                               const engine::Listener& listener, AnswerNumbers numbers, int context_tokens)
    : host_(host)
    , request_(request)
    , listener_(listener)
    , numbers_(std::move(numbers))
    , context_tokens_(context_tokens)
    , answer_(host, thought_before(request))
    , events_([this](const std::string& data) { return take_data(data); })
{
    tell_telemetry(engine::Phase::Prefill);
}

net::HttpReader StreamedAnswer::reader()
{
    net::HttpReader reader;
    reader.on_head = [this](const net::HttpHead& head) { return take_head(head); };
    reader.on_bytes = [this](std::span<const std::byte> bytes) {
        return take_bytes({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    };
    return reader;
}

net::Status StreamedAnswer::take_head(const net::HttpHead& head)
{
    const std::string_view type = head.header("content-type");
    if (type.starts_with("text/html"))
        return net::fail(FailureKind::BadAnswer, host_ + " answers with a page for people");
    is_stream_ = !type.starts_with("application/json");  // some servers answer some requests in one piece
    return {};
}

net::Status StreamedAnswer::take_bytes(std::string_view bytes)
{
    if (!is_stream_) {
        if (bytes.size() > kLongestWhole - whole_.size())
            return net::fail(FailureKind::BadAnswer, host_ + " does not come to an end");
        whole_ += bytes;
        return {};
    }
    if (done_)
        return net::fail(FailureKind::Cancelled, "nothing more is wanted");
    if (events_.add(bytes) == SseReader::State::TooLong)
        return net::fail(FailureKind::BadAnswer, host_ + " sends an event without an end");
    if (failure_)
        return tl::unexpected(*failure_);
    return {};
}

bool StreamedAnswer::take_data(const std::string& data)
{
    if (data == "[DONE]") {
        done_ = true;
        return false;
    }
    const auto text = answer_.add(data);
    if (!text) {
        failure_ = text.error();
        return false;
    }
    tell_prompt();
    if (text->empty())
        return true;
    numbers_.on_text(AnswerNumbers::Clock::now());
    if (text->size() > kLongestText - text_.size()) {
        failure_ = net::Failure{FailureKind::BadAnswer, host_ + " does not come to an end"};
        return false;
    }
    text_ += *text;
    if (listener_.on_text)
        listener_.on_text(*text);
    tell_progress();
    return true;
}

net::Status StreamedAnswer::end()
{
    if (!is_stream_)
        take_data(whole_);
    else if (!done_ && !failure_) {
        events_.end();
        if (failure_ && failure_->kind == FailureKind::BadAnswer)  // the end has cut the last event
            return net::fail(FailureKind::Interrupted, host_ + " broke off before the end");
    }
    if (failure_)
        return tl::unexpected(*failure_);
    if (!done_ && answer_.finish_reason().empty())
        return net::fail(FailureKind::Interrupted, host_ + " broke off before the end");
    return {};
}

void StreamedAnswer::tell_prompt()
{
    const auto tokens = answer_.usage().prompt_tokens;
    if (!tokens || prompt_told_)
        return;
    prompt_told_ = true;
    engine::PromptLedger ledger;
    ledger.total_tokens = *tokens;  // the server does not say which message has how many
    if (listener_.on_prompt)
        listener_.on_prompt(ledger);
}

void StreamedAnswer::tell_telemetry(engine::Phase phase)
{
    if (listener_.on_telemetry)
        listener_.on_telemetry(numbers_.frame(answer_, phase));
}

/// Tells the listener the numbers, at most once in kProgressInterval.
void StreamedAnswer::tell_progress()
{
    const auto now = AnswerNumbers::Clock::now();
    if (progress_told_ && now - *progress_told_ < kProgressInterval)
        return;
    progress_told_ = now;
    tell_telemetry(engine::Phase::Decode);
}

engine::Turn StreamedAnswer::turn(bool stopped) const
{
    engine::Turn turn;
    turn.text = text_;
    turn.telemetry = numbers_.frame(answer_, engine::Phase::Idle);
    turn.ledger.total_tokens = turn.telemetry.prompt_tokens;
    turn.prompt = {0, turn.telemetry.prompt_tokens};
    turn.answer = {turn.prompt.last, turn.prompt.last + turn.telemetry.generated_tokens};
    turn.seed = request_.sampling.seed.value_or(0);
    const std::string& reason = answer_.finish_reason();
    const bool full = context_tokens_ > 0 && turn.answer.last + kContextMargin >= context_tokens_;
    if (stopped)
        turn.reason = engine::StopReason::Cancelled;
    else if (reason == "length")
        turn.reason = full ? engine::StopReason::ContextFull : engine::StopReason::MaxTokens;
    if (listener_.on_event && !stopped && !full && context_tokens_ > 0 &&
        turn.answer.last >= int(kNearlyFull * context_tokens_)) {
        engine::Event event;
        event.kind = engine::Event::Kind::ContextNearlyFull;
        event.cause = engine::Event::Cause::ContextFull;
        event.time_us = turn.telemetry.time_us;
        listener_.on_event(event);
    }
    return turn;
}

}  // namespace remote
