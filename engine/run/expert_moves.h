// ExpertMoves brings a layer's routed experts to the device or sends them home, and makes or gives back the room that
// the device has for copies of those at home and for those that come for one step.
#pragma once

#include "engine/engine.h"
#include "engine/exec/placement.h"
#include "engine/run/experts_plan.h"
#include "engine/run/on_device.h"

#include <string>
#include <vector>

namespace engine {

/// Owned by ModelPlacement, which calls it between steps. What is moved is said as events.
class ExpertMoves
{
public:
    /// All three must outlive it. `plan`: where experts are to lie; `split`: where layers are computed; `events`: gets
    /// what was moved.
    ExpertMoves(ExpertsPlan& plan, Placement& split, std::vector<Event>& events)
        : plan_(plan)
        , split_(split)
        , events_(events)
    {
    }

    /// The experts of one layer that are to be on the host leave the device. False: none.
    bool send_home(OnDevice& on, Event::Cause cause);
    /// The experts of one layer that are to be on the device come there, those of the last layers first. False: none is
    /// to come. DeviceLost. Where there is no room the plan has one layer's less.
    Result<bool> bring(OnDevice& on);
    /// A ring is laid out or given back, or the copies of one layer. False: all is as it should be, or finds no room
    /// and is not asked for again. DeviceLost.
    Result<bool> lay_out_rooms(OnDevice& on);
    /// Frees memory of the device when it runs out: the ring first, then half of the copies. `all`: then also a layer's
    /// experts, which go to the host. False: there was nothing to free.
    bool give_up(OnDevice& on, bool all);

private:
    Status move(OnDevice& on, int l, Residency to, Event::Cause cause);
    void note_refused_ring(const OnDevice& on, Event::Cause cause);
    void shrink_cache(OnDevice& on, Event::Cause cause);
    void warn(Event::Cause cause, std::string sentence);

    ExpertsPlan& plan_;
    Placement& split_;
    std::vector<Event>& events_;
};

}  // namespace engine
