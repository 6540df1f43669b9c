// Reports what an answer took, as JSON and as a line for people.
#pragma once

#include "engine/engine.h"

#include <map>
#include <string>

namespace cli {

/// Returns one JSON object on one line. `events`: how many of each kind there were.
std::string to_json(const engine::Turn& turn, const std::map<std::string, int>& events);

/// Prints the rates on stderr.
void print_rates(const engine::Telemetry& telemetry);

/// Returns the name of an event's kind in JSON results.
const char* kind_name(engine::Event::Kind kind);

}  // namespace cli
