// KvRoom divides the host's memory that is left for keys, values and states between a model's cache and the caches of
// those models and blocks that guess for it.
#pragma once

#include "engine/kv/kv_cache.h"
#include "engine/run/model_placement.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace engine {

/// Layers that come home from a GPU take the host's memory, and layers that leave give it back; so a cache asks for its
/// limit whenever it is about to take memory. Owned by the model.
class KvRoom
{
public:
    /// `bytes`: what all caches may have together while no weight lies on a GPU; none: the machine does not tell.
    /// `placement` outlives it.
    KvRoom(const ModelPlacement& placement, std::optional<std::int64_t> bytes)
        : placement_(placement)
        , bytes_(bytes)
    {
    }

    /// Gives the cache a share from now on, and promises it one conversation that fills the context. Call leave()
    /// before the cache goes, unless this goes first. Throws std::bad_alloc.
    void join(KvCache& cache);
    void leave(const KvCache& cache) { std::erase(caches_, &cache); }

private:
    KvMemoryLimit limit_of(const KvCache& cache) const;

    const ModelPlacement& placement_;
    const std::optional<std::int64_t> bytes_;
    std::vector<const KvCache*> caches_;
};

}  // namespace engine
