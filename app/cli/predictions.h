// Computes what inspect says of a model before it is loaded: bytes of each memory, spill point, predicted speed.
#pragma once

#include "app/cli/command.h"

#include <nlohmann/json.hpp>

namespace cli {

/// Predicts for every KV type and, on a device, for every policy. Without rates kept by calibrate there are no speeds.
engine::Result<nlohmann::ordered_json> predict(const engine::LoadRequest& request);
/// Prints the predictions as tables.
void print_predictions(const nlohmann::ordered_json& predictions);

}  // namespace cli
