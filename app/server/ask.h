// Declares what every dialect's request becomes, and the events of which every dialect's answer is made.
#pragma once

#include "app/server/models.h"
#include "app/server/refusal.h"
#include "engine/engine.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace server {

/// Holds what stands around a gap in a text, which is to be filled, and files that tell more about it.
struct Gap {
    struct File {
        std::string name;  // empty: it has none
        std::string text;
    };
    std::string before, after;
    std::vector<File> others = {};
};

/// Holds what a request has in place of messages: a text, or tokens, or tokens with texts between them, or a gap; these
/// two are turned into tokens before the turn.
struct RawPrompt {
    std::string text = {};
    std::vector<int> ids = {};
    std::vector<std::variant<std::string, int>> mixed = {};
    std::optional<Gap> gap = {};
};

/// One turn that somebody asks for, or several alike.
struct Ask {
    std::string model;              // as the client calls it
    std::optional<ModelFile> file;  // which one that is
    engine::Request turn;
    int choices = 1;                      // so many answers, each a turn
    std::vector<RawPrompt> prompts = {};  // that are answered so; empty: the messages of `turn`
    bool streams = false;
    bool shows_thoughts = true;              // apart from the answer; false: they are left out
    bool one_call = false;                   // of a tool; the turn ends with it
    bool must_call = false;                  // a tool, instead of answering
    std::vector<std::string> callable = {};  // the only tools that may be called; empty: all that are offered
    bool reports_progress = false;           // of the prompt
    bool thoughts_in_text = false;           // the answer is given as the model wrote it, thoughts and all
    int least_indent = 0;                    // of its lines; see CodeBound
    std::chrono::milliseconds most_time{0};  // that it may take; see CodeBound

    /// Prompt after prompt, its choices one after another.
    int answers() const { return choices * std::max(int(prompts.size()), 1); }
};

// ---- what happens to it, in this order ----

/// The prompt is known and fits.
struct Started {
    int prompt_tokens = 0;
};
/// Says how much of the prompt is there. Only where that was asked for.
struct Progress {
    int prompt_tokens = 0;
    int cached_tokens = 0;  // of them
    int done_tokens = 0;    // those included
    double seconds = 0;
};
struct TextPiece {
    std::string text;
};
/// The tokens of the next piece; at the end those that left none. Only where they were asked for.
struct TokenPiece {
    std::vector<engine::TokenLogprobs> tokens;
};
struct ThoughtPiece {
    std::string text;
};
struct CallBegun {
    int index = 0;
    std::string id;
    std::string name;
};
/// The call's arguments, a JSON object, in pieces.
struct CallArguments {
    int index = 0;
    std::string text;
};
struct Ended {
    engine::StopReason reason = engine::StopReason::EndOfTurn;
    std::string stop_string = {};  // that ended it
    std::uint64_t seed = 0;        // that it was drawn with
    int calls = 0;
    int prompt_tokens = 0;
    int cached_tokens = 0;  // of them
    int answer_tokens = 0;
    int thought_tokens = 0;  // of them, as far as their pieces tell; 0 where thoughts are not told apart
    int drafted_tokens = 0, accepted_tokens = 0;
    double waited_s = 0;  // for its turn
    double prompt_s = 0;  // until the first token
    double answer_s = 0;  // from then on
};
/// In place of Ended.
struct Failed {
    Refusal refusal;
};
using TurnEvent =
    std::variant<Started, Progress, TextPiece, TokenPiece, ThoughtPiece, CallBegun, CallArguments, Ended, Failed>;

}  // namespace server
