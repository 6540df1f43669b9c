// Measures, for bench --pressure, a conversation that grows past a device's memory, row by row.
#pragma once

#include "app/cli/command.h"
#include "engine/bench.h"

#include <string>

namespace cli {

/// Prints the rows as md, json or csv. Returns an exit code.
int bench_pressure(engine::LoadRequest load, const engine::PressureRequest& request, const std::string& form);

}  // namespace cli
