#include "app/server/thought_splitter.h"

#include "engine/reasoning_marks.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace server {

namespace {

constexpr std::string_view kSpace = " \t\r\n";
constexpr std::string_view kAnalysis = "<|channel|>analysis<|message|>";

// gpt-oss begins each part with its kind, Muse Glimmer with its recipient.
constexpr std::array<std::string_view, 3> kAnswerChannels = {
    "<|channel|>final<|message|>", "<|channel|>commentary<|message|>", engine::RecipientMarks::kAnswer};
constexpr std::string_view kEndOfRecipientsThought = "<|eom|><|start|>assistant to=user<|message|>";
constexpr std::array<std::string_view, 5> kEndsOfAnalysis = {
    "<|end|><|start|>assistant<|channel|>final<|message|>", "<|end|><|start|>assistant<|channel|>commentary<|message|>",
    // A call of a tool: ToolCallReader needs these marks, so they are not dropped.
    "<|end|><|start|>assistant to=", "<|end|><|start|>assistant<|channel|>commentary to=",
    "<|end|><|start|>assistant<|channel|>analysis to="};

/// Returns the marks with which a thought may begin.
std::vector<std::string_view> opening_marks()
{
    std::vector<std::string_view> marks = {kAnalysis, engine::RecipientMarks::kThought};
    for (const engine::ReasoningMark& mark : engine::kReasoningMarks)
        marks.push_back(mark.open);
    return marks;
}

std::vector<std::string_view> closing_marks(std::string_view opened)
{
    if (opened == kAnalysis)
        return {kEndsOfAnalysis.begin(), kEndsOfAnalysis.end()};
    if (opened == engine::RecipientMarks::kThought)
        return {kEndOfRecipientsThought};
    for (const engine::ReasoningMark& mark : engine::kReasoningMarks)
        if (mark.open == opened)
            return {mark.close};
    return {};
}

template <class Marks>
std::string_view mark_at_front(const Marks& marks, std::string_view text)
{
    std::string_view longest;
    for (const std::string_view mark : marks)
        if (text.starts_with(mark) && mark.size() > longest.size())
            longest = mark;
    return longest;
}

template <class Marks>
bool may_begin(const Marks& marks, std::string_view text)
{
    return std::ranges::any_of(
        marks, [&](std::string_view mark) { return mark.size() > text.size() && mark.starts_with(text); });
}

}  // namespace

ThoughtSplitter::ThoughtSplitter(Sink sink, bool drops)
    : sink_(std::move(sink))
    , drops_(drops)
{
}

void ThoughtSplitter::feed(std::string_view piece)
{
    held_ += piece;
    while (!held_.empty() && step()) {
    }
}

/// Reads on. False: more text is needed.
bool ThoughtSplitter::step()
{
    switch (state_) {
    case State::Beginning:
        return begin();
    case State::Thought:
        return think();
    case State::Behind:
        return skip_space();
    case State::Answer:
        give(Kind::Answer, held_.size());
        break;
    }
    return false;
}

bool ThoughtSplitter::begin()
{
    static const std::vector<std::string_view> opening = opening_marks();
    const std::size_t first = held_.find_first_not_of(kSpace);
    if (first == std::string::npos)
        return false;
    const std::string_view text = std::string_view(held_).substr(first);
    if (const auto mark = mark_at_front(kAnswerChannels, text); !mark.empty()) {
        drop(first + mark.size());
        state_ = State::Answer;
    } else if (may_begin(opening, text) || may_begin(kAnswerChannels, text)) {
        return false;
    } else if (const auto open = mark_at_front(opening, text); !open.empty()) {
        drop(first + open.size());
        opened_ = open;
        state_ = State::Thought;
    } else {
        state_ = State::Answer;
    }
    return true;
}

bool ThoughtSplitter::think()
{
    if (!said_)
        drop(std::min(held_.find_first_not_of(kSpace), held_.size()));
    const std::vector<std::string_view> closing = closing_marks(opened_);
    std::size_t end = std::string::npos, mark_bytes = 0;
    for (const std::string_view mark : closing)
        if (const std::size_t at = held_.find(mark); at < end) {
            end = at;
            mark_bytes = mark.size();
        }
    const bool closed = end != std::string::npos;
    std::size_t sure = closed ? end : held_.size();
    for (std::size_t at = 0; !closed && at < sure; ++at)
        if (may_begin(closing, std::string_view(held_).substr(at)))
            sure = at;
    // Space before the mark belongs to neither part.
    const std::size_t last = std::string_view(held_).substr(0, sure).find_last_not_of(kSpace);
    const std::size_t thought = last == std::string_view::npos ? 0 : last + 1;
    give(Kind::Thought, thought);
    if (closed) {
        const bool calls = std::string_view(held_).substr(end - thought, mark_bytes).ends_with(" to=");
        drop(end - thought + (calls ? 0 : mark_bytes));
        state_ = State::Behind;
    }
    return closed;
}

bool ThoughtSplitter::skip_space()
{
    drop(std::min(held_.find_first_not_of(kSpace), held_.size()));
    if (!held_.empty())
        state_ = State::Answer;
    return !held_.empty();
}

void ThoughtSplitter::give(Kind kind, std::size_t bytes)
{
    if (bytes == 0)
        return;
    said_ = true;
    sink_(kind, std::string_view(held_).substr(0, bytes));
    held_.erase(0, bytes);
}

void ThoughtSplitter::drop(std::size_t bytes)
{
    if (drops_)
        held_.erase(0, bytes);
    else
        give(Kind::Thought, bytes);
}

void ThoughtSplitter::finish()
{
    if (state_ == State::Thought) {
        const std::size_t last = held_.find_last_not_of(kSpace);
        give(Kind::Thought, last == std::string::npos ? 0 : last + 1);
    } else if (state_ != State::Behind) {
        give(Kind::Answer, held_.size());
    }
    drop(held_.size());
}

}  // namespace server
