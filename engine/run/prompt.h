// Turns messages into token ids: the chat template is rendered, only what it wrote itself may become control tokens,
// what the model said keeps the ids it was said in, and every token is put down to the message it comes from.
#pragma once

#include "engine/engine.h"
#include "engine/template/chat_template.h"
#include "engine/tokenizer/tokenizer.h"

#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace engine {

/// An answer as the model made it. Tokenising its text again may give other ids than these.
struct KeptReply {
    std::string text;
    std::vector<int> ids;
};

/// Says how a template begins an answer for the model: with a mark behind which it thinks. What stands at the prompt's
/// end is then a part of the answer, so that its text shows what was thought.
struct OpenedThought {
    std::string text;  // the mark and what the template wrote behind it; empty: nothing is opened
    int first = 0;     // its first token in the prompt
};

struct Prompt {
    std::vector<int> ids;
    PromptLedger ledger;
    OpenedThought opened = {};
    std::vector<std::size_t> replies = {};  // indices of the kept replies whose ids are in the prompt
};

class PromptBuilder
{
public:
    /// Error::Code::Cancelled where `stop` is asked for.
    PromptBuilder(const ChatTemplate& chat_template, const Tokenizer& tokenizer, std::span<const KeptReply> replies,
                  std::stop_token stop = {})
        : template_(chat_template)
        , tokenizer_(tokenizer)
        , replies_(replies)
        , stop_(std::move(stop))
    {
    }

    /// Returns the prompt of at most `limit` tokens. What happens to a longer one is the request's choice; `room`
    /// tokens are left free for the answer when turns are dropped.
    Result<Prompt> build(const Request& request, int limit, int room) const;

private:
    Result<Prompt> build_from(const Request& request, std::span<const int> kept) const;
    Prompt build_raw(const Request& request) const;
    const KeptReply* kept_reply(const Message& message) const;

    const ChatTemplate& template_;
    const Tokenizer& tokenizer_;
    std::span<const KeptReply> replies_;
    std::stop_token stop_;
};

}  // namespace engine
