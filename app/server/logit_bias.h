// Reads and writes which tokens a request wants more often, less often, or never.
#pragma once

#include "app/server/fields.h"
#include "engine/engine.h"

namespace server {

/// Reads OpenAI's object of numbers by token, or llama-server's array of pairs; false in place of a number forbids a
/// token. A text stands for all of its tokens.
void read_logit_bias(Fields& fields, engine::SamplingOptions& sampling);

/// Returns the biases in llama-server's form; null in place of a number: forbidden.
Json said_logit_bias(const engine::SamplingOptions& sampling);

}  // namespace server
