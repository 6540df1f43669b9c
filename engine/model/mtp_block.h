// MtpBlock describes the block behind a model's layers that guesses the token after the next one: multi-token
// prediction (arXiv 2412.19437, section 2.2). It reads what the model has made of a token, and the token that followed:
//   layer(projection [rms_norm(embedding of token i + 1); rms_norm(what the model made of token i)])
// is, normed, what the model's head makes logits of token i + 2 from; and what is made of token i + 1, where the block
// is asked to go on. What the model has made is taken behind its last norm: with Qwen's and GLM's weights more guesses
// stood so (llama.cpp #24025, vLLM #47448).
#pragma once

#include "engine/model/weights.h"

#include <optional>

namespace engine {

/// The model's, with the block as the only layer: it is like the last one that attends. Empty: there is none, or the
/// model has what such blocks are not known with, several residual streams or inputs beside the stream.
std::optional<Hyperparameters> mtp_hyperparameters(const Hyperparameters& model);

/// The first block's weights, with the embedding and the head that it shares with the model's, which outlives it.
/// `h`: mtp_hyperparameters(). Errors as of Weights::read().
Result<Weights> read_mtp_block(const GgufFile& file, const Hyperparameters& h, int block, const Weights& model);

}  // namespace engine
