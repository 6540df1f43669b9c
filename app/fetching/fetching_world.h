// FetchingWorld holds what finding and fetching models depends on; a test gives its own.
#pragma once

#include "app/fetching/this_machine.h"
#include "engine/engine.h"
#include "engine/machine.h"

#include <functional>

struct FetchingWorld {
    std::function<bool()> allowed;                 // by the user: nobody is asked anything before
    std::function<engine::LoadRequest()> request;  // what a model would be loaded with
    std::function<engine::MachineMemory()> memory;
    ThisMachine machine = {};
    std::function<QString()> folder = {};  // where what is fetched goes; empty: where other programs find it
};
