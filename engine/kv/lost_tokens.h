// Finds the tokens of a sequence that have to be computed again, and keeps them as its lost ones.
#pragma once

#include "engine/kv/kv_cache.h"

#include <utility>
#include <vector>

namespace engine {

/// Gives up the KV of the tokens from `tokens` on, or from the checkpoint before: they are lost from then on, before
/// those that already are. Throws std::bad_alloc; then nothing has changed.
inline void lose_tokens(KvCache& cache, KvSequence& sequence, int tokens)
{
    tokens = cache.states().reachable(sequence, tokens);
    std::vector<int> lost(sequence.ids.begin() + tokens, sequence.ids.end());
    lost.insert(lost.end(), sequence.lost.begin(), sequence.lost.end());
    cache.truncate(sequence, tokens);
    sequence.lost = std::move(lost);
}

/// Counts as lost what a lost device took with it, and that for which there was no memory in another type.
inline void find_lost(KvCache& cache, KvSequence& sequence)
{
    const int intact = cache.intact_tokens(sequence);
    // A spoilt state is dropped also where no token is lost: nothing is left then, or a checkpoint is behind all
    // tokens.
    const bool is_spoiled = sequence.state != kNoState && !cache.states().whole(sequence);
    if (intact < sequence.length() || is_spoiled)
        lose_tokens(cache, sequence, intact);
}

}  // namespace engine
