// Reads what clients say about the form of an answer: JSON, a JSON Schema, or a grammar.
#pragma once

#include "app/server/ask.h"
#include "app/server/fields.h"

namespace server {

/// Reads OpenAI's response_format, and llama-server's json_schema and grammar. Call it after the tools were read: the
/// rules for calls are joined with this format later, when it is known which model answers.
void read_answer_format(Fields& fields, engine::Request& turn);

/// Reads the Responses API's text.format.
void read_text_format(Fields& fields, engine::Request& turn);

/// Reads Anthropic's output_config.format, or output_format, its older name.
void read_output_format(Fields& fields, engine::Request& turn);

/// Reads Ollama's format: "json" or a schema.
void read_ollama_format(Fields& fields, engine::Request& turn);

}  // namespace server
