// ExpertMoves brings a layer's routed experts to the device or sends them home, and makes or gives back the room on the
// device for copies of experts at home and for experts that come for one step.
#pragma once

#include "engine/engine.h"
#include "engine/exec/placement.h"
#include "engine/run/experts_plan.h"
#include "engine/run/on_device.h"

#include <string>
#include <vector>

namespace engine {

/// Owned by ModelPlacement, which calls it between steps. It reports what is moved as events.
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

    /// Sends home the experts of one layer that are to be on the host. False: there is none.
    bool send_home(OnDevice& on, Event::Cause cause);
    /// Brings the experts of one layer to the device, of those that are to be there the last layer's first. False:
    /// there is none. DeviceLost. Where there is no room, the plan has one layer's experts less on the device.
    Result<bool> bring(OnDevice& on);
    /// Makes or gives back a ring, or the copies of one layer. False: all is as it should be, or finds no room and is
    /// not tried again. DeviceLost.
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
