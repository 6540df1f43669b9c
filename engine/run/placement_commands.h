// ModelPlacement::CarryOut does what a command asks of where a model lies.
#pragma once

#include "engine/run/model_placement.h"

namespace engine {

/// Does what the command that it visits asks for. Precondition: there is a device.
struct ModelPlacement::CarryOut {
    ModelPlacement& to;

    Status operator()(const SetDeviceLayers& command) const;
    Status operator()(const SetHostExperts& command) const;
    Status operator()(const SetExpertCache& command) const;
    Status operator()(const SetVramBudget& command) const;
    Status operator()(const SetOtherPrograms& command) const;
    Status operator()(const SetWatermark& command) const;
    Status operator()(const SetKvPolicy& command) const;
    Status operator()(const SetKvOffloadShare& command) const;

private:
    template <class Change>
    Status choose(const Change& change) const;
};

}  // namespace engine
