// Fetches models for the verbs pull and run.
#pragma once

#include "engine/result.h"

#include <filesystem>
#include <string>

namespace cli {

/// The model that `typed` names, fetched where it is not here yet: what to open. Progress goes to stderr, and so does
/// what went wrong.
engine::Result<std::filesystem::path> fetched_model(const std::string& typed);

/// "hf.co/...", "https://...": no file of this computer.
bool names_a_model_elsewhere(const std::string& typed);

}  // namespace cli
