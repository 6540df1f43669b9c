// Chooses how many tokens of a prompt are computed in one step, where the user has not.
#pragma once

#include "engine/engine.h"
#include "engine/model/hyperparameters.h"

namespace engine {

inline constexpr int kPrefillChunk = 512;         // of the CPU
inline constexpr int kLongestOwnChunk = 2048;     // of a GPU
inline constexpr int kRowsOfMultiprocessor = 16;  // that a GPU needs, to have work for all of them
inline constexpr int kShareOfChunk = 16;          // of the device's memory, that a longer chunk may take: a 16th

/// The request with a number of tokens: what it names; else 512, and on a GPU as many as keep it busy, for which there
/// is memory. `context`: the longest sequence.
LoadRequest with_prefill_chunk(LoadRequest request, const Hyperparameters& h, int context);

/// What it is at most, where the model is not known.
int longest_prefill_chunk(const LoadRequest& request);

}  // namespace engine
