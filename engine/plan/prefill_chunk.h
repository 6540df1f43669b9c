// Chooses how many tokens of a prompt are computed in one step, where the user has not.
#pragma once

#include "engine/engine.h"
#include "engine/model/hyperparameters.h"
#include "engine/model/weights.h"

#include <cstdint>
#include <optional>

namespace engine {

inline constexpr int kPrefillChunk = 512;         // of the CPU
inline constexpr int kLongestOwnChunk = 2048;     // of a GPU
inline constexpr int kShortestOwnChunk = 64;      // of a GPU
inline constexpr int kRowsOfMultiprocessor = 16;  // that a GPU needs, to have work for all of them
inline constexpr int kShareOfChunk = 16;          // of the device's memory, that a longer chunk may take: a 16th

/// Returns the request with a number of tokens: what it names; else 512, and on a GPU as many as keep it busy, for
/// which there is memory; where experts come over the link for a prompt, as many as there is memory for, 2,048 at most.
/// Fewer where one product would keep a slow GPU busy for longer than a launch may be (exec/launch_work.h).
/// `request`: its tensor overrides are layers by now. `context`: the longest sequence. `host_bytes`: this machine's
/// memory; empty: unknown.
LoadRequest with_prefill_chunk(LoadRequest request, const Hyperparameters& h, int context, const Weights& weights,
                               std::optional<std::int64_t> host_bytes);

/// Returns the longest chunk that there can be, where the model is not known.
int longest_prefill_chunk(const LoadRequest& request);

}  // namespace engine
