#include "engine/run/kv_room.h"

#include "engine/engine.h"

namespace engine {

namespace {

/// What one conversation that fills the context takes, whatever else there is.
KvMemoryLimit promised_to(const KvCache& cache)
{
    return {.bytes = KvMemoryLimit().bytes,
            .pages = cache.page_limit() / kMostRowsTogether,
            .states = RecurrentStates::kMostOfSequence + 1};
}

double promised_bytes(const KvCache& cache)
{
    const KvMemoryLimit promised = promised_to(cache);
    return double(promised.pages) * double(cache.page_bytes()) +
           double(promised.states) * double(cache.states().bytes());
}

/// Weights on the host are mapped: the system calls their memory available, though KV there would drive them out. Those
/// that a GPU has are not read there.
std::int64_t weights_elsewhere(const ModelPlacement& placement)
{
    return placement.host_waits_for_link() ? 0 : placement.device()->vram().used(Vram::Use::Weights);
}

}  // namespace

void KvRoom::join(KvCache& cache)
{
    cache.ask_for_limit([this, &cache] { return limit_of(cache); });
    caches_.push_back(&cache);
}

/// Each cache has a share by what one conversation takes there.
KvMemoryLimit KvRoom::limit_of(const KvCache& cache) const
{
    KvMemoryLimit limit = promised_to(cache);
    double all = 0;
    for (const KvCache* const one : caches_)
        all += promised_bytes(*one);
    if (bytes_ && all > 0)
        limit.bytes = std::int64_t(double(*bytes_ + weights_elsewhere(placement_)) * (promised_bytes(cache) / all));
    return limit;
}

}  // namespace engine
