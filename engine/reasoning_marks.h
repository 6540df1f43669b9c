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

/// All but those of gpt-oss, which are several tokens each and have no single end: whoever reads them knows their
/// order.
inline constexpr std::array kReasoningMarks = {
    ReasoningMark{"<think>", "</think>"},
    ReasoningMark{"<thinking>", "</thinking>"},
    ReasoningMark{"<thought>", "</thought>"},
    ReasoningMark{"<reasoning>", "</reasoning>"},
    ReasoningMark{"<seed:think>", "</seed:think>"},
    ReasoningMark{"[THINK]", "[/THINK]"},
    ReasoningMark{"◁think▷", "◁/think▷"},
    ReasoningMark{"<|START_THINKING|>", "<|END_THINKING|>"},
    ReasoningMark{"<|channel>thought", "<channel|>", "<|channel>"},
};

}  // namespace engine
