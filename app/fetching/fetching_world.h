// FetchingWorld holds what finding and fetching models depends on; a test gives its own.
#pragma once

#include "app/fetching/this_machine.h"
#include "engine/engine.h"
#include "engine/machine.h"

#include <functional>

struct FetchingWorld {
    std::function<bool()> allowed;                 // says whether the user permits the network
    std::function<engine::LoadRequest()> request;  // what a model would be loaded with
    std::function<engine::MachineMemory()> memory;
    ThisMachine machine = {};
    std::function<QString()> folder = {};  // in which models are put; empty: where other programs find them
};
