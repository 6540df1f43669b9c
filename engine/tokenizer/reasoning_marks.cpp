#include "engine/tokenizer/reasoning_marks.h"

#include "engine/reasoning_marks.h"

#include <algorithm>
#include <array>

namespace engine {

namespace {

// Around the answer.
constexpr std::array<std::string_view, 2> kResponse = {"<|START_RESPONSE|>", "<|END_RESPONSE|>"};

// Around the calls of tools, and within them.
constexpr auto kToolCalls = std::to_array<std::string_view>({
    "<tool_call>",
    "</tool_call>",
    "<|tool_call|>",
    "[TOOL_CALLS]",
    "[ARGS]",
    "[CALL_ID]",
    "<|python_tag|>",
    "<|tool_call_start|>",
    "<|tool_call_end|>",
    "<|tool_call>",
    "<tool_call|>",
    "<|\"|>",
    "<arg_key>",
    "</arg_key>",
    "<arg_value>",
    "</arg_value>",
    "<|START_ACTION|>",
    "<|END_ACTION|>",
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁calls▁end｜>",
    "<｜tool▁call▁begin｜>",
    "<｜tool▁call▁end｜>",
    "<｜tool▁sep｜>",
    "<｜DSML｜",
    "<|tool_calls_section_begin|>",
    "<|tool_calls_section_end|>",
    "<|tool_call_begin|>",
    "<|tool_call_argument_begin|>",
    "<|tool_call_end|>",
    "<minimax:tool_call>",
    "</minimax:tool_call>",
    "<seed:tool_call>",
    "</seed:tool_call>",
    "<TOOLCALL>",
    "</TOOLCALL>",
});

constexpr auto kSingle = [] {
    std::array<std::string_view, 2 * kReasoningMarks.size() + kResponse.size() + kToolCalls.size()> all;
    auto next = std::ranges::copy(kResponse, all.begin()).out;
    next = std::ranges::copy(kToolCalls, next).out;
    for (const ReasoningMark& mark : kReasoningMarks) {
        *next++ = mark.token;
        *next++ = mark.close;
    }
    return all;
}();

// The marks of gpt-oss and Muse Glimmer, which are several tokens each.
constexpr std::array<std::string_view, 7> kChannels = {
    "<|end|><|start|>assistant",
    "<|channel|>analysis<|message|>",
    "<|channel|>commentary<|message|>",
    "<|channel|>final<|message|>",
    "<|start|>assistant to=self<|message|>",
    "<|start|>assistant to=user<|message|>",
    "<|eom|><|start|>assistant to=user<|message|>",
};

constexpr std::array<std::string_view, 2> kChannelEnds = {"<|end|>", "<|eom|>"};

template <std::size_t N>
std::size_t mark_at(std::string_view text, const std::array<std::string_view, N>& marks)
{
    for (const std::string_view mark : marks)
        if (text.starts_with(mark))
            return mark.size();
    return 0;
}

}  // namespace

std::span<const std::string_view> single_token_marks()
{
    return kSingle;
}

std::vector<MarkRange> find_reasoning_marks(std::string_view answer)
{
    constexpr std::string_view kFirstBytes = "<[\xe2";
    std::vector<MarkRange> found;
    for (std::size_t at = 0; (at = answer.find_first_of(kFirstBytes, at)) != std::string_view::npos;) {
        const std::string_view rest = answer.substr(at);
        std::size_t size = mark_at(rest, kSingle);
        if (size == 0)
            size = std::ranges::count(kChannelEnds, rest) > 0 ? rest.size() : mark_at(rest, kChannels);
        if (size > 0)
            found.push_back({at, at + size});
        at += size > 0 ? size : 1;
    }
    return found;
}

}  // namespace engine
