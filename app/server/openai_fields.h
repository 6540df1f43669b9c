// Reads what the requests of OpenAI's APIs have in common, llama-server's additions included.
#pragma once

#include "app/server/ask.h"
#include "app/server/fields.h"

#include <string>
#include <vector>

namespace server {

/// Larger ones are no sensible wish, and would not fit the engine's numbers.
inline constexpr std::int64_t kMostAnswerTokens = 1 << 30;

/// temperature, top_p, logit_bias, seed and their like.
void read_sampling(Fields& fields, engine::SamplingOptions& sampling);

/// Reads the stop strings, which end an answer. More than 64 are refused.
std::vector<std::string> read_stops(Fields& fields, const char* name);

/// Reads how long an answer may be, what ends it, whether it is a stream.
void read_answer_limits(Fields& fields, Ask& ask);

/// n: so many answers; n_cmpl is the same.
void read_choices(Fields& fields, Ask& ask);

/// Adds up what several answers to one prompt took: the prompt counts once.
void add(const Ended& ended, Ended& sum);

/// chat_template_kwargs and reasoning_effort, or the effort in `reasoning`, as the template's arguments. An effort asks
/// for thinking as well. Whether to think may also be said without one, in the words of several APIs.
void read_template_arguments(Fields& fields, engine::Request& turn);

/// An array of {role, content}. System messages at the beginning become one, since templates take no more.
void read_messages(Fields& fields, engine::Request& turn);

/// tools, tool_choice and parallel_tool_calls. Tools of the API's own, which are no functions, are left out.
void read_tools(Fields& fields, Ask& ask);

/// The functions that may be called, as chat completions write them, when it was read which of them must be.
void offer_tools(Fields& fields, const Json& functions, Ask& ask);

/// Fields that ask for what no answer here has.
void refuse_unsupported(Fields& fields);

/// The text of a content: a string, or parts of type text. Images and sounds are refused in the name of `field`.
std::string text_of_content(Fields& fields, const Json& content, const std::string& field);

/// Does the same for a tool's result, in which words stand for images, documents and all else that is no text: it comes
/// again with each later request of its conversation, so that none of them would be answered.
std::string text_of_result(Fields& fields, const Json& content, const std::string& field);

/// Writes {"error": {...}} as OpenAI's clients read it.
std::string openai_error(const Refusal& refusal);

Json openai_usage(const Ended& ended);
const char* openai_finish_reason(const Ended& ended);

}  // namespace server
