// engine_elsewhere() makes the engine of a server, in place of this machine's.
#pragma once

#include "app/cli/run_options.h"

#include <filesystem>
#include <memory>

namespace cli {

struct EngineElsewhere {
    std::unique_ptr<engine::Engine> engine;
    std::filesystem::path model;  // as it is to be loaded
};

/// Returns the engine of the server of `--remote`, and its model: that of `--remote-model`, or the only one it has.
engine::Result<EngineElsewhere> engine_elsewhere(const RunOptions& options);

}  // namespace cli
