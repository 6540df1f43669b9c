// Makes folders of the user's that nobody else looks into: the profile of the window and of spillway-cli, saved KV.
#pragma once

#include "engine/result.h"

#include <filesystem>

namespace engine {

/// Makes the folder and those above it where they are missing, and closes it to others, also one that was there and
/// open. On Windows the profile's own access list does that. CannotWrite: it cannot be made.
Status make_private_folder(const std::filesystem::path& folder);

}  // namespace engine
