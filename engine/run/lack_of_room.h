// Says whether a step failed for want of the host's memory for keys and values, and whether others can free some.
#pragma once

#include "engine/kv/kv_cache.h"

namespace engine {

/// Says whether there was no memory for a step's KV: then it is tried again when another conversation's KV has left.
inline bool lacks_room(const Error& error)
{
    return error.code == Error::Code::ContextFull || error.code == Error::Code::NoMemory;
}

/// Says whether conversations that nobody answers help a step of these rows of this sequence when they are forgotten.
/// They do not where a device is full: what they had there has left before the step fails.
inline bool forgetting_helps(const Error& error, const KvCache& cache, const KvSequence& sequence, const RowGroup& rows)
{
    const int more = rows.again ? 0 : rows.count();  // lost tokens are counted already
    const bool has_pages = cache.has_pages_for(sequence, sequence.length() + int(sequence.lost.size()) + more);
    return lacks_room(error) && !(error.code == Error::Code::ContextFull && has_pages);
}

}  // namespace engine
