// OpenAiLogprobs reads how many log probabilities a request wants, and writes them in OpenAI's form.
#pragma once

#include "app/server/ask.h"
#include "app/server/fields.h"

#include <vector>

namespace server {

/// Reads the fields of a chat: logprobs, a flag, and top_logprobs.
void read_chat_logprobs(Fields& fields, engine::Request& turn);
/// Reads the field of a completion: logprobs is a number.
void read_completion_logprobs(Fields& fields, engine::Request& turn);

/// Writes the log probabilities of a chat; null: there are none.
Json chat_logprobs(const std::vector<engine::TokenLogprobs>& tokens);

/// Returns each token in the form of chats, with its id.
Json token_logprobs(const std::vector<engine::TokenLogprobs>& tokens);

/// Writes the log probabilities of a completion, with the number of characters before each token.
class CompletionLogprobs
{
public:
    /// Returns those of the next tokens; null: there are none.
    Json next(const std::vector<engine::TokenLogprobs>& tokens);

private:
    std::size_t offset_ = 0;
};

}  // namespace server
