#include "engine/run/answer_text.h"

#include <algorithm>
#include <utility>

namespace engine {

AnswerText::AnswerText(const std::vector<std::string>& stop, bool trim_start, const OnText& on_text)
    : on_text_(on_text)
    , stops_(stop)
    , trim_start_(trim_start)
{
}

void AnswerText::begin_with(std::string_view text)
{
    text_ += text;
}

/// Returns where the text will end when all whole characters that are there are given.
int AnswerText::reach() const
{
    const bool trims = trim_start_ && stops_.held().starts_with(' ');
    return int(text_.size() + stops_.held().size()) - (trims ? 1 : 0);
}

void AnswerText::note_guess()
{
    const int end = reach();
    if (!guessed_.empty() && guessed_.back().last == newest_)
        guessed_.back().last = end;
    else if (end > newest_)
        guessed_.push_back({newest_, end});
}

/// A stop string may have cut off the end of the text.
std::vector<TextRange> AnswerText::take_guessed()
{
    const int end = int(text_.size());
    for (TextRange& range : guessed_)
        range.last = std::min(range.last, end);
    std::erase_if(guessed_, [](const TextRange& range) { return range.first >= range.last; });
    return std::move(guessed_);
}

bool AnswerText::feed(std::string_view piece)
{
    newest_ = reach();
    const std::string text = utf8_.feed(piece);
    const auto released = stops_.feed(text);  // may be a view into text
    give(released.text);
    stopped_ = released.stopped;
    return stopped_;
}

void AnswerText::finish(HalfCharacter half)
{
    if (stopped_)
        return tell();
    if (half == HalfCharacter::Shown) {
        const std::string rest = utf8_.flush();
        give(stops_.feed(rest).text);
    }
    const auto last = stops_.finish();
    give(last.text);
    stopped_ = last.stopped;
    tell();
}

void AnswerText::give(std::string_view text)
{
    if (trim_start_ && !text.empty()) {
        trim_start_ = false;
        if (text.front() == ' ')
            text.remove_prefix(1);
    }
    put(text);
}

void AnswerText::put(std::string_view text)
{
    if (text.empty())
        return;
    text_ += text;
    tell();
}

void AnswerText::tell()
{
    if (on_text_ && told_ < text_.size())
        on_text_(std::string_view(text_).substr(told_));
    told_ = text_.size();
}

}  // namespace engine
