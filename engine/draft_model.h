// Says whether one model can guess the tokens of another.
#pragma once

#include "engine/result.h"

#include <filesystem>

namespace engine {

/// Says whether the model `draft` may guess for `model`; reads both files up to their weights. BadRequest, with a
/// sentence that names the first difference: their vocabularies are not the same; only padding at the end of the longer
/// one may be missing in the other. Unsupported: it is no model that runs; and the errors of inspect_model().
Status may_draft(const std::filesystem::path& model, const std::filesystem::path& draft);

}  // namespace engine
