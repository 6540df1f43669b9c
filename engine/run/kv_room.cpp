#include "engine/run/kv_room.h"

#include "engine/engine.h"

namespace engine {

namespace {

/// Returns what one conversation that fills the context takes, which the cache may have in any case.
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

/// Returns the bytes of weights that lie on a GPU alone. Weights on the host are mapped, and the system calls their
/// memory available though KV there would drive them out; those of a GPU are not read on the host.
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

/// Returns the limit of a cache: its share is by what one conversation takes there.
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
