// DraftOptions holds what a command was told of guessing tokens ahead.
#pragma once

#include "engine/engine.h"
#include "engine/utf8_path.h"

#include <CLI/CLI.hpp>
#include <string>

namespace cli {

struct DraftOptions {
    std::string mode = "auto";
    int most = engine::kMostRowsTogether - 1;
    std::string model;

    void add_to(CLI::App& command)
    {
        command
            .add_option("--draft", mode,
                        "what guesses the next tokens, which are checked in one step, so that the answer is the same: "
                        "ngram, from what repeats; model, the draft model; mtp, the block for it in the model's own "
                        "file; auto, "
                        "what there is; off")
            ->check(CLI::IsMember({"auto", "off", "ngram", "model", "mtp"}))
            ->capture_default_str();
        command.add_option("--md,--model-draft", model,
                           "GGUF file of a draft model: a small one with the vocabulary of the model");
        command.add_option("--draft-max", most, "tokens that are guessed at a time, at most; 0: none")
            ->check(CLI::Range(0, 1000))
            ->capture_default_str();
        command.add_flag_callback(
            "--no-draft", [this] { mode = "off"; }, "the same as --draft off");
    }
    /// Puts the draft model into the request, if one is named. BadRequest: one is needed, and none is named.
    engine::Status add_to(engine::LoadRequest& load) const
    {
        if (mode == "model" && model.empty())
            return engine::fail(engine::Error::Code::BadRequest,
                                "--draft model needs the file of a draft model: -md FILE");
        if (most_drafted() > 0 && mode != "ngram" && mode != "mtp")
            load.draft_model = engine::utf8_path(model);
        return {};
    }
    /// Return what an engine::Request is to be given.
    int most_drafted() const { return mode == "off" ? 0 : most; }
    engine::Drafters drafters() const
    {
        return mode == "ngram"   ? engine::Drafters::Repetition
               : mode == "model" ? engine::Drafters::Model
               : mode == "mtp"   ? engine::Drafters::Mtp
                                 : engine::Drafters::All;
    }
};

}  // namespace cli
