// Runs the real engine with a small model, for tests of what it does behind its front door.
#pragma once

#include "engine/engine.h"
#include "tests/support/models.h"

#include <QtGlobal>

#include <filesystem>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

namespace test_support {

inline std::filesystem::path model_file()
{
    return (own_models_folder() + "/llama.gguf").toStdString();
}

inline engine::Request chat(std::vector<engine::Message> messages, int max_tokens = 24)
{
    engine::Request request;
    request.messages = std::move(messages);
    request.sampling.temperature = 0;
    request.max_tokens = max_tokens;
    return request;
}

/// An engine with the small model and one conversation.
struct Loaded {
    std::unique_ptr<engine::Engine> engine = engine::make_engine();
    engine::SequenceId sequence = 0;

    explicit Loaded(int context_tokens = 0, int block_tokens = 16, const std::filesystem::path& model = model_file())
    {
        engine::LoadRequest request;
        request.model = model;
        request.context_tokens = context_tokens;
        request.kv_block_tokens = block_tokens;
        const auto info = engine->load(request, {}, {});
        if (!info)
            qWarning("%s", info.error().what.c_str());
        const auto made = engine->create_sequence();
        sequence = made.value_or(0);
    }

    engine::Result<engine::Turn> generate(const engine::Request& request, const engine::Listener& listener = {},
                                          std::stop_token stop = {})
    {
        return engine->generate(sequence, request, listener, std::move(stop));
    }
};

}  // namespace test_support
