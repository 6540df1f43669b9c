// HereOrThere is an engine that computes on this machine or asks a server, as the path of the model says.
#pragma once

#include "app/remote/remote_engine.h"

#include <memory>

namespace remote {

/// One model is open at a time: opening a server's closes the local one and frees its memory, and the other way around.
/// Commands always go to the local engine, which keeps their settings for its next model. Threads as for
/// engine::Engine.
class HereOrThere final : public engine::Engine
{
public:
    HereOrThere(std::unique_ptr<engine::Engine> here, std::shared_ptr<ServerBook> book);

    engine::Result<engine::ModelInfo> load(const engine::LoadRequest& request, const engine::Listener& listener,
                                           std::stop_token stop) override;
    void unload() override { now_->unload(); }
    bool loaded() const override { return now_->loaded(); }
    engine::Result<engine::SequenceId> create_sequence() override { return now_->create_sequence(); }
    engine::Result<engine::SequenceId> branch(engine::SequenceId from, int tokens) override
    {
        return now_->branch(from, tokens);
    }
    void end_sequence(engine::SequenceId sequence) override { now_->end_sequence(sequence); }
    engine::Result<engine::TurnId> begin(engine::SequenceId sequence, const engine::Request& request,
                                         const engine::Listener& listener, std::stop_token stop) override
    {
        return now_->begin(sequence, request, listener, std::move(stop));
    }
    std::vector<engine::TurnId> step(const engine::Listener& listener) override { return now_->step(listener); }
    engine::Result<engine::Turn> end(engine::TurnId turn) override { return now_->end(turn); }
    engine::Result<engine::Turn> generate(engine::SequenceId sequence, const engine::Request& request,
                                          const engine::Listener& listener, std::stop_token stop) override
    {
        return now_->generate(sequence, request, listener, std::move(stop));
    }
    engine::Result<int> count_tokens(std::string_view text, std::stop_token stop) const override
    {
        return now_->count_tokens(text, std::move(stop));
    }
    engine::Result<engine::Embedding> embed(const engine::EmbeddingInput& input, std::stop_token stop) override
    {
        return now_->embed(input, std::move(stop));
    }
    engine::Result<engine::PromptLedger> count_prompt(const engine::Request& request,
                                                      std::stop_token stop) const override
    {
        return now_->count_prompt(request, std::move(stop));
    }
    std::uint64_t post(engine::Command command) override { return here_->post(std::move(command)); }
    void poll(const engine::Listener& listener) override { here_->poll(listener); }

private:
    std::unique_ptr<engine::Engine> here_;
    RemoteEngine there_;
    engine::Engine* now_;  // used on the owner's thread only
};

}  // namespace remote
