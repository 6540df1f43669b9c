// Fetches models for the verbs pull and run.
#pragma once

#include "engine/result.h"

#include <filesystem>
#include <string>

namespace cli {

/// Fetches the model that `typed` names if it is not here yet, and returns the file to open. Progress goes to stderr,
/// and so does what went wrong.
engine::Result<std::filesystem::path> fetched_model(const std::string& typed);

/// Says whether the text names no file of this computer: "hf.co/...", "https://...".
bool names_a_model_elsewhere(const std::string& typed);

}  // namespace cli
