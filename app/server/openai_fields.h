// Reads what the requests of OpenAI's APIs have in common, llama-server's additions included.
#pragma once

#include "app/server/ask.h"
#include "app/server/fields.h"

#include <string>
#include <vector>

namespace server {

/// The most tokens of an answer that may be asked for; larger numbers would overflow in the engine.
inline constexpr std::int64_t kMostAnswerTokens = 1 << 30;

/// Reads temperature, top_p, logit_bias, seed and other options of sampling.
void read_sampling(Fields& fields, engine::SamplingOptions& sampling);

/// Reads the stop strings, which end an answer. More than 64 are refused.
std::vector<std::string> read_stops(Fields& fields, const char* name);

/// Reads how long an answer may be, what ends it, and whether it is streamed.
void read_answer_limits(Fields& fields, Ask& ask);

/// Reads n, the number of answers; n_cmpl means the same.
void read_choices(Fields& fields, Ask& ask);

/// Adds up the tokens and times of several answers to one prompt, which counts once.
void add(const Ended& ended, Ended& sum);

/// Reads chat_template_kwargs and reasoning_effort, or the effort in `reasoning`, as arguments of the template. An
/// effort switches thinking on as well. Requests may also say whether to think without an effort, in the words of
/// several APIs.
void read_template_arguments(Fields& fields, engine::Request& turn);

/// Reads an array of {role, content}. System messages at the beginning become one, since templates take no more.
void read_messages(Fields& fields, engine::Request& turn);

/// Reads tools, tool_choice and parallel_tool_calls. Tools that are no functions but the API's own are left out.
void read_tools(Fields& fields, Ask& ask);

/// Offers the functions, in the form of chat completions, to the model. Call it after tool_choice was read.
void offer_tools(Fields& fields, const Json& functions, Ask& ask);

/// Refuses fields that ask for something that answers here never have.
void refuse_unsupported(Fields& fields);

/// Returns the text of a content: a string, or parts of type text. Images and sounds are refused; `field` names the
/// content in the refusal.
std::string text_of_content(Fields& fields, const Json& content, const std::string& field);

/// Does the same for a tool's result, in which words replace images, documents and all other parts that are no text. A
/// refusal would stop the conversation for good, since each later request contains the result again.
std::string text_of_result(Fields& fields, const Json& content, const std::string& field);

/// Writes {"error": {...}} as OpenAI's clients read it.
std::string openai_error(const Refusal& refusal);

Json openai_usage(const Ended& ended);
const char* openai_finish_reason(const Ended& ended);

}  // namespace server
