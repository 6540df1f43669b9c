// OpenAiLogprobs reads what requests ask of the probabilities of tokens, and says them as OpenAI's clients read them.
#pragma once

#include "app/server/ask.h"
#include "app/server/fields.h"

#include <vector>

namespace server {

/// Reads the fields of a chat: logprobs, a flag, and top_logprobs.
void read_chat_logprobs(Fields& fields, engine::Request& turn);
/// Reads the field of a completion: logprobs is how many.
void read_completion_logprobs(Fields& fields, engine::Request& turn);

/// Writes the log probabilities of a chat; null: there are none.
Json chat_logprobs(const std::vector<engine::TokenLogprobs>& tokens);

/// Writes each token as chats have it, with its id.
Json token_logprobs(const std::vector<engine::TokenLogprobs>& tokens);

/// Writes those of a completion, whose offsets count the characters before each.
class CompletionLogprobs
{
public:
    /// Null: there are none.
    Json next(const std::vector<engine::TokenLogprobs>& tokens);

private:
    std::size_t offset_ = 0;
};

}  // namespace server
