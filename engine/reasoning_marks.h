// Lists the marks between which models think aloud.
#pragma once

#include <array>
#include <string_view>

namespace engine {

struct ReasoningMark {
    std::string_view open;
    std::string_view close;
    std::string_view token = open;  // the token of a vocabulary with which `open` begins; `close` is one token
};

/// The marks of all models but gpt-oss and Muse Glimmer, whose marks are several tokens each and have no single end:
/// the code that reads them knows their order.
inline constexpr std::array kReasoningMarks = {
    ReasoningMark{"<think>", "</think>"},
    ReasoningMark{"<thinking>", "</thinking>"},
    ReasoningMark{"<thought>", "</thought>"},
    ReasoningMark{"<reasoning>", "</reasoning>"},
    ReasoningMark{"<seed:think>", "</seed:think>"},
    ReasoningMark{"<mm:think>", "</mm:think>"},
    ReasoningMark{"[THINK]", "[/THINK]"},
    ReasoningMark{"◁think▷", "◁/think▷"},
    ReasoningMark{"<|START_THINKING|>", "<|END_THINKING|>"},
    ReasoningMark{"<|inner_prefix|>", "<|inner_suffix|>"},
    ReasoningMark{"<|channel>thought", "<channel|>", "<|channel>"},
};

/// The marks of Muse Glimmer, which says in the head of each message of an answer who is to read it. Its template
/// writes the first words of the first head: they are a part of the answer.
struct RecipientMarks {
    static constexpr std::string_view kHead = "<|start|>assistant";
    static constexpr std::string_view kEnd = "<|eom|>";  // of a message that another one follows
    static constexpr std::string_view kThought = "<|start|>assistant to=self<|message|>";
    static constexpr std::string_view kAnswer = "<|start|>assistant to=user<|message|>";
};

}  // namespace engine
