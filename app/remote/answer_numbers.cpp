#include "app/remote/answer_numbers.h"

#include <algorithm>
#include <numeric>

namespace remote {

namespace {

double ms_between(AnswerNumbers::Clock::time_point from, AnswerNumbers::Clock::time_point to)
{
    return std::chrono::duration<double, std::milli>(to - from).count();
}

engine::TokenTimes times_of(std::vector<double> gaps_ms)
{
    std::sort(gaps_ms.begin(), gaps_ms.end());
    const auto at = [&](double share) {
        return gaps_ms[std::min(gaps_ms.size() - 1, std::size_t(share * double(gaps_ms.size())))];
    };
    return {std::accumulate(gaps_ms.begin(), gaps_ms.end(), 0.0) / double(gaps_ms.size()), at(0.5), at(0.99)};
}

}  // namespace

AnswerNumbers::AnswerNumbers(int sequence, int context_tokens)
    : sequence_(sequence)
    , context_tokens_(context_tokens)
{
}

void AnswerNumbers::on_text(Clock::time_point now)
{
    if (!first_)
        first_ = now;
    else if (gaps_ms_.size() < kMostGaps)
        gaps_ms_.push_back(ms_between(*last_, now));
    else
        gaps_ms_[next_gap_++ % kMostGaps] = ms_between(*last_, now);
    last_ = now;
}

engine::Telemetry AnswerNumbers::frame(const AnswerReader& reader, engine::Phase phase) const
{
    engine::Telemetry frame;
    frame.phase = phase;
    frame.sequence = sequence_;
    frame.time_us = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now().time_since_epoch()).count();
    frame.context_limit = context_tokens_;
    const Usage& usage = reader.usage();
    frame.prompt_tokens = usage.prompt_tokens.value_or(0);
    frame.reused_tokens = usage.cached_tokens.value_or(0);
    frame.prefilled_tokens = std::max(0, frame.prompt_tokens - frame.reused_tokens);
    frame.generated_tokens = usage.answer_tokens.value_or(reader.pieces());
    frame.context_tokens = frame.prompt_tokens + frame.generated_tokens;  // as far as is known before the answer ends
    frame.prefill_tokens_per_s = usage.prompt_tokens_per_s;
    if (!first_)
        return frame;
    frame.ttft_ms = ms_between(asked_, *first_);
    const double ms = ms_between(*first_, *last_);
    if (frame.generated_tokens > 1 && ms > 0)
        frame.decode_tokens_per_s = 1000.0 * (frame.generated_tokens - 1) / ms;
    // Times for each token are known only where each piece of text is one token.
    if (!gaps_ms_.empty() && reader.pieces() >= frame.generated_tokens - 1)
        frame.tpot = times_of(gaps_ms_);
    return frame;
}

}  // namespace remote
