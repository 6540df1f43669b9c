// Lists the marks between which models think aloud.
#pragma once

#include <array>
#include <string_view>

namespace engine {

struct ReasoningMark {
    std::string_view open;
    std::string_view close;
    std::string_view token = open;  // of a vocabulary, with which `open` begins; `close` is one token
};

/// All but those of gpt-oss and Muse Glimmer, which are several tokens each and have no single end: whoever reads them
/// knows their order.
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

/// Muse Glimmer names in the head of each of an answer's messages who reads it, and its template writes the first
/// words of that: they are a part of the answer.
struct RecipientMarks {
    static constexpr std::string_view kHead = "<|start|>assistant";
    static constexpr std::string_view kEnd = "<|eom|>";  // of a message that another one follows
    static constexpr std::string_view kThought = "<|start|>assistant to=self<|message|>";
    static constexpr std::string_view kAnswer = "<|start|>assistant to=user<|message|>";
};

}  // namespace engine
