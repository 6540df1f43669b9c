#include "engine/run/expert_moves.h"

#include "engine/layer_move.h"
#include "engine/metrics/clock.h"
#include "engine/run/events.h"

#include <utility>

namespace engine {

bool ExpertMoves::send_home(OnDevice& on, Event::Cause cause)
{
    for (int l = 0; l < on.layers(); ++l)
        if (plan_.leave(on, l) && on.has_experts_of(l)) {
            (void)move(on, l, Residency::Host, cause);
            return true;
        }
    return false;
}

Result<bool> ExpertMoves::bring(OnDevice& on)
{
    for (int l = on.layers() - 1; l >= 0; --l) {
        if (plan_.leave(on, l) || !on.experts_on_host(l))
            continue;
        if (const Status moved = move(on, l, Residency::Device, Event::Cause::Split); !moved) {
            if (moved.error().code == Error::Code::DeviceLost)
                return tl::unexpected(moved.error());
            plan_.set_host_layers(on.layout().rank(l) + 1);  // there is less room than was planned with
        }
        return true;
    }
    return false;
}

Status ExpertMoves::move(OnDevice& on, int l, Residency to, Event::Cause cause)
{
    Event event = make_event(Event::Kind::ExpertsMove, experts_moved(l, to));
    event.cause = cause;
    event.layer = l;
    const auto bytes = to == Residency::Device ? on.copy_experts(l) : Result<std::int64_t>(on.drop_experts(l));
    if (!bytes)
        return tl::unexpected(bytes.error());
    split_.place(l, on.backend(), on.layer(l));
    event.bytes = *bytes;
    event.duration_us = now_us() - event.time_us;
    events_.push_back(std::move(event));
    return {};
}

Result<bool> ExpertMoves::lay_out_rooms(OnDevice& on)
{
    auto changed = on.lay_out_expert_ring();
    if (!changed && changed.error().code != Error::Code::DeviceLost) {
        note_refused_ring(on, Event::Cause::Split);
        changed = false;
    }
    if (!changed || *changed)
        return changed;
    changed = on.lay_out_expert_cache(plan_.host_layers());
    if (!changed && changed.error().code != Error::Code::DeviceLost) {
        shrink_cache(on, Event::Cause::Split);
        changed = false;
    }
    return changed;
}

bool ExpertMoves::give_up(OnDevice& on, bool all)
{
    if (on.has_expert_ring()) {
        on.drop_expert_ring();
        note_refused_ring(on, Event::Cause::Watermark);
        return true;
    }
    if (on.has_expert_cache()) {
        shrink_cache(on, Event::Cause::Watermark);
        return true;
    }
    const DeviceLayout& layout = on.layout();
    int next = -1;
    for (int l = 0; all && l < on.layers(); ++l)
        if (on.has_experts_of(l) && (next < 0 || layout.rank(l) < layout.rank(next)))
            next = l;
    if (next < 0)
        return false;
    plan_.set_host_layers(layout.rank(next) + 1);
    (void)move(on, next, Residency::Host, Event::Cause::Watermark);
    return true;
}

void ExpertMoves::note_refused_ring(const OnDevice& on, Event::Cause cause)
{
    warn(cause, "experts find no room on the device " + on.id() + " to come there: the CPU computes them");
}

/// Halves the room for copies, or gives all back where next to nothing would be left.
void ExpertMoves::shrink_cache(OnDevice& on, Event::Cause cause)
{
    const std::int64_t half = on.layout().expert_cache_bytes() / 2;
    on.layout().set_expert_cache_bytes(half);
    const int places = on.layout().cached_experts(on.layers(), plan_.host_layers());
    on.drop_larger_expert_caches(0);
    plan_.limit_copies(places > 0 ? half : 0);
    on.layout().set_expert_cache_bytes(places > 0 ? half : 0);
    warn(cause, places == 0 ? "copies of experts find no room on the device " + on.id()
                            : "copies of experts find less room on the device " + on.id() +
                                  " than was asked for: " + std::to_string(places) + " in each layer");
}

void ExpertMoves::warn(Event::Cause cause, std::string sentence)
{
    Event event = make_event(Event::Kind::Warning, std::move(sentence));
    event.cause = cause;
    events_.push_back(std::move(event));
}

}  // namespace engine
