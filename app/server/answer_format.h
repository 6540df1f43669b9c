// Reads what clients say about the form of an answer: JSON, a JSON Schema, or a grammar.
#pragma once

#include "app/server/ask.h"
#include "app/server/fields.h"

namespace server {

/// Reads OpenAI's response_format, and llama-server's json_schema and grammar. Call it when the tools were read: an
/// answer that may be a call instead is held to both when it is known which model is to answer.
void read_answer_format(Fields& fields, engine::Request& turn);

/// The Responses API's text.format.
void read_text_format(Fields& fields, engine::Request& turn);

/// Anthropic's output_config.format, and output_format, as it was called before.
void read_output_format(Fields& fields, engine::Request& turn);

/// Ollama's: "json" or a schema.
void read_ollama_format(Fields& fields, engine::Request& turn);

}  // namespace server
