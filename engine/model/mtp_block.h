// MtpBlock describes the block behind a model's layers that guesses the token after the next one: multi-token
// prediction (arXiv 2412.19437, section 2.2). It reads the model's hidden state of a token, and the token that
// followed:
//   layer(projection [rms_norm(embedding of token i + 1); rms_norm(hidden state of token i)])
// The model's head makes logits of token i + 2 from the result, normed. Where the block goes on guessing, that stands
// for the hidden state of token i + 1. Hidden states are taken behind the model's last norm: with Qwen's and GLM's
// weights more guesses are accepted so (llama.cpp #24025, vLLM #47448).
#pragma once

#include "engine/model/weights.h"

#include <optional>

namespace engine {

/// Returns the model's numbers with the block as the only layer: it is like the last one that attends. Empty: there is
/// no block, or the model has what such blocks are not known with, several residual streams or inputs beside the
/// stream.
std::optional<Hyperparameters> mtp_hyperparameters(const Hyperparameters& model);

/// Reads the first block's weights. The embedding and the head are those of `model`, which outlives them. `h`:
/// mtp_hyperparameters(). Errors as of Weights::read().
Result<Weights> read_mtp_block(const GgufFile& file, const Hyperparameters& h, int block, const Weights& model);

}  // namespace engine
