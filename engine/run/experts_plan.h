// ExpertsPlan says of how many layers the routed experts are to lie on the host, for the conversations that are in use.
#pragma once

#include "engine/run/on_device.h"

namespace engine {

/// Owned by ModelPlacement. Values only.
class ExpertsPlan
{
public:
    /// The first so many layers.
    int host_layers() const { return host_layers_; }
    /// What is chosen, or what the device has room for beside so many layers.
    void make(const OnDevice& device, const PlacementOptions& options, int layers)
    {
        host_layers_ = device.planned_host_experts(options, layers, columns_);
    }
    /// There turned out to be less room, or none on any device.
    void set_host_layers(int layers) { host_layers_ = layers; }

    /// The next step may be of a shorter conversation.
    void begin_turn() { turn_began_ = true; }
    /// A step is about to fill so many block columns. True: not what was planned with.
    bool needs(int columns)
    {
        if (columns <= columns_ && !turn_began_)
            return false;
        columns_ = columns;
        turn_began_ = false;
        return true;
    }

private:
    int host_layers_ = 0;
    int columns_ = 0;
    bool turn_began_ = false;
};

}  // namespace engine
