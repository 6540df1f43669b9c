// Declares Ask, the form of every dialect's request, and the events from which every dialect makes its answers.
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

/// Holds a prompt that a request has instead of messages: a text, or tokens, or tokens with texts between them, or a
/// gap; these two become tokens before the turn.
struct RawPrompt {
    std::string text = {};
    std::vector<int> ids = {};
    std::vector<std::variant<std::string, int>> mixed = {};
    std::optional<Gap> gap = {};
};

/// Holds a request for one turn, or for several with the same settings.
struct Ask {
    std::string model;              // as the client calls it
    std::optional<ModelFile> file;  // the file of that model
    engine::Request turn;
    int choices = 1;                      // answers to each prompt, each a turn of its own
    std::vector<RawPrompt> prompts = {};  // to be answered with these settings; empty: the messages of `turn` are
    bool streams = false;
    bool shows_thoughts = true;              // thoughts are sent apart from the answer; false: not at all
    bool one_call = false;                   // the turn ends with the first call of a tool
    bool must_call = false;                  // the model must call a tool instead of answering
    std::vector<std::string> callable = {};  // the only tools that may be called; empty: all that are offered
    bool reports_progress = false;           // how far the prompt is read
    bool thoughts_in_text = false;           // the answer is given as the model wrote it, thoughts and all
    int least_indent = 0;                    // of its lines; see CodeBound
    std::chrono::milliseconds most_time{0};  // that it may take; see CodeBound

    /// Returns the number of answers, which are ordered by prompt, then by choice.
    int answers() const { return choices * std::max(int(prompts.size()), 1); }
};

// ---- what happens to it, in this order ----

/// The prompt has been made, and fits into the context.
struct Started {
    int prompt_tokens = 0;
};
/// Says how much of the prompt has been read. Sent only where that was asked for.
struct Progress {
    int prompt_tokens = 0;
    int cached_tokens = 0;  // of these, from the KV cache
    int done_tokens = 0;    // read so far, with the cached ones
    double seconds = 0;
};
struct TextPiece {
    std::string text;
};
/// Holds the tokens of the next piece of text; at the end tokens without any text. Sent only where tokens were asked
/// for.
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
/// Holds a piece of a call's arguments, which are a JSON object.
struct CallArguments {
    int index = 0;
    std::string text;
};
struct Ended {
    engine::StopReason reason = engine::StopReason::EndOfTurn;
    std::string stop_string = {};  // the stop string that ended the answer
    std::uint64_t seed = 0;        // the seed that the answer was drawn with
    int calls = 0;
    int prompt_tokens = 0;
    int cached_tokens = 0;  // of these, from the KV cache
    int answer_tokens = 0;
    int thought_tokens = 0;  // of them, as far as their pieces tell; 0 where thoughts are not told apart
    int drafted_tokens = 0, accepted_tokens = 0;
    double waited_s = 0;  // until the turn began
    double prompt_s = 0;  // until the first token
    double answer_s = 0;  // from the first token on
};
/// Comes in place of Ended.
struct Failed {
    Refusal refusal;
};
using TurnEvent =
    std::variant<Started, Progress, TextPiece, TokenPiece, ThoughtPiece, CallBegun, CallArguments, Ended, Failed>;

}  // namespace server
