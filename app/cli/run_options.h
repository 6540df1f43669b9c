// RunOptions holds what `run` was asked for.
#pragma once

#include "app/cli/command.h"
#include "app/cli/draft_options.h"

#include <optional>
#include <string>
#include <vector>

namespace cli {

struct RunOptions {
    CommonOptions common;
    std::string remote, remote_model, api_key_file;
    engine::SamplingOptions sampling;
    std::optional<std::string> prompt;
    std::string file, system, template_arguments;
    std::vector<std::string> stop;
    std::string grammar, grammar_file, json_schema, json_schema_file;
    int max_tokens = -1;
    DraftOptions draft;
    bool raw = false, drop_oldest = false, no_history = false, tokens = false;
};

}  // namespace cli
