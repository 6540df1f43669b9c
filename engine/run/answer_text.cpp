#include "engine/run/answer_text.h"

namespace engine {

AnswerText::AnswerText(const std::vector<std::string>& stop, bool trim_start, const OnText& on_text)
    : on_text_(on_text)
    , stops_(stop)
    , trim_start_(trim_start)
{
}

void AnswerText::begin_with(std::string_view text)
{
    put(text);
}

bool AnswerText::feed(std::string_view piece)
{
    const std::string text = utf8_.feed(piece);
    const auto released = stops_.feed(text);  // may be a view into text
    give(released.text);
    stopped_ = released.stopped;
    return stopped_;
}

void AnswerText::finish()
{
    if (stopped_)
        return;
    const std::string rest = utf8_.flush();
    give(stops_.feed(rest).text);
    give(stops_.finish().text);
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
    if (on_text_)
        on_text_(text);
}

}  // namespace engine
