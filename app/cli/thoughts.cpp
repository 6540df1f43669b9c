#include "app/cli/thoughts.h"

#include "engine/reasoning_marks.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace cli {

namespace {

struct Replacement {
    std::string_view mark;
    std::string_view in_thought;  // what is printed where a thought is open
    std::string_view elsewhere;
    bool begins_thought = false;
};

// A mark stands before the marks that are its end, since the first that fits is taken. A commentary is part of the
// answer, not of a thought.
constexpr std::array kReplacements = {
    Replacement{"<|end|><|start|>assistant<|channel|>final<|message|>", "\n</think>\n\n", "\n\n"},
    Replacement{"<|end|><|start|>assistant<|channel|>commentary<|message|>", "\n</think>\n\n", "\n\n"},
    Replacement{"<|end|><|start|>assistant<|channel|>analysis<|message|>", "\n", "\n\n<think>\n", true},
    Replacement{"<|channel|>analysis<|message|>", "<think>\n", "<think>\n", true},
    Replacement{"<|start|>assistant to=self<|message|>", "<think>\n", "<think>\n", true},
    Replacement{"<|eom|><|start|>assistant to=user<|message|>", "\n</think>\n\n", "\n\n"},
    Replacement{"<|start|>assistant to=user<|message|>", "", ""},
    Replacement{"<|channel|>commentary<|message|>", "", ""},
    Replacement{"<|channel|>final<|message|>", "", ""},
};

// The marks of gpt-oss and of Muse Glimmer; the engine has those of other models.
constexpr engine::ReasoningMark kChannels{"<|channel|>analysis<|message|>", "<|channel|>final<|message|>"};
constexpr engine::ReasoningMark kRecipients{engine::RecipientMarks::kThought, engine::RecipientMarks::kAnswer};

std::string_view stripped(std::string_view text)
{
    constexpr std::string_view kSpace = " \t\r\n";
    const auto first = text.find_first_not_of(kSpace);
    return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(kSpace) + 1 - first);
}

}  // namespace

std::string PrintedMarks::add(std::string_view piece)
{
    held_ += piece;
    std::string printed;
    for (std::size_t at = 0;;) {
        const std::size_t mark = held_.find('<', at);
        const std::string_view rest = mark == std::string::npos ? "" : std::string_view(held_).substr(mark);
        const auto whole = std::find_if(kReplacements.begin(), kReplacements.end(),
                                        [&](const Replacement& r) { return rest.starts_with(r.mark); });
        const bool begun = std::any_of(kReplacements.begin(), kReplacements.end(),
                                       [&](const Replacement& r) { return r.mark.starts_with(rest); });
        if (whole != kReplacements.end()) {
            printed.append(held_, 0, mark).append(in_thought_ ? whole->in_thought : whole->elsewhere);
            in_thought_ = whole->begins_thought;
            held_.erase(0, mark + whole->mark.size());
            at = 0;
        } else if (begun) {
            printed.append(held_, 0, mark);
            held_.erase(0, mark);
            return printed;
        } else {
            at = mark + 1;
        }
    }
}

std::string PrintedMarks::end()
{
    return std::exchange(held_, {});
}

/// Returns what follows the thought in an answer that begins with one between these marks, or the thought itself if
/// nothing follows. Nothing: the answer does not begin so.
static std::optional<std::string> said_after(std::string_view text, const engine::ReasoningMark& mark)
{
    const bool opened = text.starts_with(mark.open);
    const auto close = text.find(mark.close);
    // Some templates open the thought themselves; then its end stands on a line of its own.
    if (!opened && (close == std::string_view::npos || (close > 0 && text[close - 1] != '\n')))
        return std::nullopt;
    const std::string_view said = close == std::string_view::npos ? "" : text.substr(close + mark.close.size());
    if (!stripped(said).empty())
        return std::string(stripped(said));
    const std::size_t begin = opened ? mark.open.size() : 0;
    return std::string(stripped(text.substr(begin, std::max(begin, std::min(close, text.size())) - begin)));
}

std::string without_thoughts(std::string_view answer)
{
    const std::string_view text = stripped(answer);
    for (const engine::ReasoningMark& mark : engine::kReasoningMarks)
        if (auto said = said_after(text, mark))
            return *std::move(said);
    if (auto said = said_after(text, kRecipients))
        return *std::move(said);
    return said_after(text, kChannels).value_or(std::string(answer));
}

}  // namespace cli
