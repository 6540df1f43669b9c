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
    /// The first so many layers.
    int host_layers() const { return host_layers_; }
    /// Takes what is chosen, or what the device has room for beside so many layers. Answers how many of these it is to
    /// have.
    int make(OnDevice& device, const PlacementOptions& options, int layers)
    {
        const DeviceChoice choice = device.plan(options, layers, columns_, most_copies_);
        host_layers_ = choice.host_expert_layers;
        return choice.layers;
    }
    /// Says whether the layer's experts are to lie on the host.
    bool leave(OnDevice& device, int l) const { return device.layout().leaves_experts(l, host_layers_); }
    /// Takes the recent hit rate into the options where it differs clearly from the planned one: with another room for
    /// copies they begin empty. False: it does not differ.
    static bool learn(const OnDevice& device, PlacementOptions& options)
    {
        const auto observed = device.observed_skew();
        if (!observed || !clearly_other_skew(*observed, options.expert_skew.value_or(kExpectedSkew)))
            return false;
        options.expert_skew = observed;
        return true;
    }
    /// There turned out to be less room, or none on any device.
    void set_host_layers(int layers) { host_layers_ = layers; }

    /// Copies of experts turned out to have room for no more than this, until the device has more to give.
    void limit_copies(std::int64_t bytes) { most_copies_ = bytes; }
    std::int64_t most_copies() const { return most_copies_; }
    void try_copies_again() { most_copies_ = std::numeric_limits<std::int64_t>::max(); }

    /// The next step may be of a shorter conversation.
    void begin_turn() { turn_began_ = true; }
    /// A step is about to fill so many block columns. True: not what was planned with. Copies that were chosen by the
    /// plan stay beside a shorter conversation, until one has less than half of the columns: another room for them
    /// begins empty.
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
