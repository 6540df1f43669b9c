// DraftOptions holds what a command was told of guessing tokens ahead.
#pragma once

#include "engine/engine.h"

#include <CLI/CLI.hpp>
#include <string>

namespace cli {

struct DraftOptions {
    std::string mode = "auto";
    int most = engine::kMostRowsTogether - 1;

    void add_to(CLI::App& command)
    {
        command
            .add_option("--draft", mode,
                        "what guesses the next tokens, which are checked in one step, so that the answer is the same: "
                        "ngram, from what repeats; auto, what there is; off")
            ->check(CLI::IsMember({"auto", "off", "ngram"}))
            ->capture_default_str();
        command.add_option("--draft-max", most, "tokens that are guessed at a time, at most; 0: none")
            ->check(CLI::Range(0, 1000))
            ->capture_default_str();
        command.add_flag_callback(
            "--no-draft", [this] { mode = "off"; }, "the same as --draft off");
    }
    /// For engine::Request.
    int most_drafted() const { return mode == "off" ? 0 : most; }
};

}  // namespace cli
