// Compares the vocabularies of two models, one of which is to guess the tokens of the other.
#pragma once

#include "engine/result.h"
#include "engine/tokenizer/vocabulary.h"

namespace engine {

/// By this many tokens two vocabularies of one family may differ in length: such models fill theirs up to sizes that
/// suit their matrices. llama.cpp allows as many.
inline constexpr int kMostPadding = 128;

/// Checks that the same ids mean the same texts, of the same kinds, as far as both go. BadRequest: the first
/// difference.
Status same_vocabulary(const Vocabulary& model, const Vocabulary& draft);

}  // namespace engine
