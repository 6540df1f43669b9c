// ExpertsPlan says of how many layers the routed experts are to lie on the host, for the conversations that are in use.
#pragma once

#include "engine/plan/expert_hits.h"
#include "engine/run/on_device.h"

#include <cstdint>
#include <limits>
#include <utility>

namespace engine {

/// Owned by ModelPlacement. Values only.
class ExpertsPlan
{
public:
    /// Returns how many layers, in the order in which their experts leave, are to have them on the host.
    int host_layers() const { return host_layers_; }
    /// Plans for the user's choice, or for the room that the device has beside this many layers. Returns how many of
    /// these layers it is to have.
    int make(OnDevice& device, const PlacementOptions& options, int layers)
    {
        const DeviceChoice choice = device.plan(options, layers, columns_, most_copies_);
        host_layers_ = choice.host_expert_layers;
        return choice.layers;
    }
    /// Says whether the layer's experts are to lie on the host.
    bool leave(OnDevice& device, int l) const { return device.layout().leaves_experts(l, host_layers_); }
    /// Takes the recent hit rate into the options where it differs clearly from the planned one: when the room for
    /// copies changes, they begin empty. False: it does not differ.
    static bool learn(const OnDevice& device, PlacementOptions& options)
    {
        const auto observed = device.observed_skew();
        if (!observed || !clearly_other_skew(*observed, options.expert_skew.value_or(kExpectedSkew)))
            return false;
        options.expert_skew = observed;
        return true;
    }
    /// Call it when there turned out to be less room than planned, or no device.
    void set_host_layers(int layers) { host_layers_ = layers; }

    /// Call it when there turned out to be no more room for copies of experts than this, until the device has more to
    /// give.
    void limit_copies(std::int64_t bytes) { most_copies_ = bytes; }
    std::int64_t most_copies() const { return most_copies_; }
    void try_copies_again() { most_copies_ = std::numeric_limits<std::int64_t>::max(); }

    /// Call it when a turn begins: the next step may be of a shorter conversation.
    void begin_turn() { turn_began_ = true; }
    /// Says, before a step fills this many block columns, whether they differ so much from the planned ones that a new
    /// plan is needed. Copies that the plan has chosen stay beside a shorter conversation, until one has less than half
    /// of the columns: with another room they begin empty.
    bool needs(int columns, bool copies_are_chosen)
    {
        const bool began = std::exchange(turn_began_, false);
        if (columns <= columns_ && (!began || (copies_are_chosen && 2 * columns >= columns_)))
            return false;
        if (copies_are_chosen && columns > columns_ && columns_with_room(columns) == columns_with_room(columns_))
            return false;
        columns_ = columns;
        return true;
    }

private:
    int host_layers_ = 0;
    int columns_ = 0;
    std::int64_t most_copies_ = std::numeric_limits<std::int64_t>::max();  // bytes
    bool turn_began_ = false;
};

}  // namespace engine
