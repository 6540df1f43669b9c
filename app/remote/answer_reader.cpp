#include "app/remote/answer_reader.h"

#include "app/remote/json_fields.h"
#include "app/remote/server_failure.h"
#include "engine/reasoning_marks.h"

#include <utility>

namespace remote {

namespace {

constexpr double kMostTokensPerS = 1e9;  // a higher number cannot be a measurement

void take(std::optional<int> from, std::optional<int>& to)
{
    if (from)
        to = from;
}

/// Returns the text of a message's content, which may be a list of parts.
std::string content_of(const Json& message)
{
    const Json* const content = field_of(message, "content");
    if (!content)
        return {};
    if (content->is_string())
        return content->get<std::string>();
    std::string all;
    if (content->is_array())
        for (const Json& part : *content)
            all += text_of(part, "text");
    return all;
}

}  // namespace

net::Result<std::string> AnswerReader::add(std::string_view json)
{
    const Json chunk = Json::parse(json, nullptr, false);
    if (!chunk.is_object())
        return net::fail(net::Failure::Kind::BadAnswer, host_ + " sends what is no piece of an answer");
    if (const Json* const error = field_of(chunk, "error")) {
        const std::string message = error->is_string() ? error->get<std::string>() : text_of(*error, "message");
        return tl::unexpected(complaint_of(host_, message));
    }
    take_numbers(chunk);
    const Json* const choices = field_of(chunk, "choices");
    if (!choices || !choices->is_array() || choices->empty())
        return std::string();
    std::string text = take_choice(choices->front());
    if (!text.empty())
        ++pieces_;
    return text;
}

void AnswerReader::take_numbers(const Json& chunk)
{
    if (const Json* const usage = field_of(chunk, "usage")) {
        take(count_of(*usage, "prompt_tokens"), usage_.prompt_tokens);
        take(count_of(*usage, "completion_tokens"), usage_.answer_tokens);
        if (const Json* const details = field_of(*usage, "prompt_tokens_details"))
            take(count_of(*details, "cached_tokens"), usage_.cached_tokens);
    }
    const Json* const timings = field_of(chunk, "timings");  // llama-server's
    if (!timings)
        return;
    take(count_of(*timings, "predicted_n"), usage_.answer_tokens);
    take(count_of(*timings, "cache_n"), usage_.cached_tokens);
    if (const auto computed = count_of(*timings, "prompt_n"); computed && !usage_.prompt_tokens)
        usage_.prompt_tokens = *computed + usage_.cached_tokens.value_or(0);
    if (const Json* const rate = field_of(*timings, "prompt_per_second"); rate && rate->is_number())
        if (const double value = rate->get<double>(); value > 0 && value < kMostTokensPerS)
            usage_.prompt_tokens_per_s = value;
}

std::string AnswerReader::take_choice(const Json& choice)
{
    if (std::string reason = text_of(choice, "finish_reason"); !reason.empty())
        finish_reason_ = std::move(reason);
    const Json* delta = field_of(choice, "delta");
    if (!delta)
        delta = field_of(choice, "message");  // the answer came whole
    if (!delta)
        return answer(text_of(choice, "text"));
    std::string said = text_of(*delta, "reasoning_content");
    if (said.empty())
        said = text_of(*delta, "reasoning");
    std::string text = thought(said);
    text += answer(content_of(*delta));
    return text;
}

std::string AnswerReader::thought(const std::string& text)
{
    if (text.empty())
        return {};
    const bool open = in_thought_ || std::exchange(opened_before_, false);
    in_thought_ = true;
    return open ? text : "<think>\n" + text;
}

/// Returns text of the answer's own field, with the closing mark in front where a thought in another field was open. A
/// thought that this answer only continues closes itself, with the mark in its text.
std::string AnswerReader::answer(const std::string& text)
{
    if (text.empty())
        return {};
    return std::exchange(in_thought_, false) ? "\n</think>\n\n" + text : text;
}

AnswerReader::Thought thought_at_end(std::string_view text)
{
    for (const engine::ReasoningMark& mark : engine::kReasoningMarks) {
        const std::size_t open = text.rfind(mark.open), close = text.rfind(mark.close);
        if (open != std::string_view::npos && (close == std::string_view::npos || close < open))
            return AnswerReader::Thought::Open;
    }
    return AnswerReader::Thought::None;
}

}  // namespace remote
