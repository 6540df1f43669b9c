// Joins JSON Schemas that hold at once to one.
#pragma once

#include "engine/result.h"

#include <nlohmann/json.hpp>

namespace engine {

using Schema = nlohmann::ordered_json;

/// Returns the schema without words that ask for nothing, such as title and description.
Schema without_notes(const Schema& schema);

/// Returns what both ask for. BadRequest names a word that has two values of which neither can be left out.
Result<Schema> merge_schemas(const Schema& a, const Schema& b);

}  // namespace engine
