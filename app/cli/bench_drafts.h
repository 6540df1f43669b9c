// Measures, for bench --draft, what drafting brings for a text.
#pragma once

#include "app/cli/command.h"
#include "engine/bench_drafts.h"

#include <string>

namespace cli {

/// Prints the pairs as md, json or csv. Returns an exit code.
int bench_drafts(engine::LoadRequest load, const engine::DraftBenchRequest& request, const std::string& form);

}  // namespace cli
