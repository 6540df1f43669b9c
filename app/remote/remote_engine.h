// RemoteEngine has a server answer in the place of this machine's engine.
#pragma once

#include "app/remote/server_book.h"
#include "app/remote/server_choice.h"
#include "app/remote/turn_threads.h"
#include "engine/engine.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace remote {

/// Asks servers of the book only. Servers keep no conversations: each turn sends the whole conversation, and the server
/// finds by itself what of it is still in its KV cache. Where several servers have one name and the model, the least
/// busy one is asked, and another when that fails before any text has come. Nothing is sent before a turn begins, so
/// that a prompt that is still being written is not counted: count_tokens() and count_prompt() answer Unsupported.
/// Commands concern the memory of this machine; this engine takes none. Threads as for engine::Engine.
class RemoteEngine final : public engine::Engine
{
public:
    /// `patience`: how long a server may say nothing before a turn fails; as long again for each other turn that runs,
    /// since the server may answer that first.
    explicit RemoteEngine(std::shared_ptr<ServerBook> book,
                          std::chrono::milliseconds patience = std::chrono::minutes(10));

    /// `request.model`: a path written by path_of(RemoteModel).
    engine::Result<engine::ModelInfo> load(const engine::LoadRequest& request, const engine::Listener& listener,
                                           std::stop_token stop) override;
    void unload() override;
    bool loaded() const override { return model_.has_value(); }
    engine::Result<engine::SequenceId> create_sequence() override { return ++last_sequence_; }
    engine::Result<engine::SequenceId> branch(engine::SequenceId from, int) override
    {
        choice_.branch(from, ++last_sequence_);
        return last_sequence_;
    }
    void end_sequence(engine::SequenceId sequence) override
    {
        choice_.end_sequence(sequence);
        book_->end_sequence(sequence);
    }
    engine::Result<engine::Turn> generate(engine::SequenceId sequence, const engine::Request& request,
                                          const engine::Listener& listener, std::stop_token stop) override;

    // A server has a queue of its own, so all turns ask it at once, each from a thread of its own. A step passes on
    // what has come for them since the step before.
    engine::Result<engine::TurnId> begin(engine::SequenceId sequence, const engine::Request& request,
                                         const engine::Listener& listener, std::stop_token stop) override;
    std::vector<engine::TurnId> step(const engine::Listener& listener) override;
    engine::Result<engine::Turn> end(engine::TurnId turn) override;

    engine::Result<int> count_tokens(std::string_view text, std::stop_token stop) const override;
    engine::Result<engine::PromptLedger> count_prompt(const engine::Request& request,
                                                      std::stop_token stop) const override;
    std::uint64_t post(engine::Command) override { return 0; }
    void poll(const engine::Listener&) override {}

private:
    struct Model {
        std::string server;  // its address; others of its name may answer
        std::string id;
        int context_tokens = 0;
        std::chrono::milliseconds patience{};
    };
    engine::Result<engine::Turn> answer(const Model& model, engine::SequenceId sequence, const engine::Request& request,
                                        const engine::Listener& listener, const std::stop_token& stop);
    std::vector<ListedServer> in_turn(std::vector<ListedServer> servers, engine::SequenceId sequence,
                                      const std::stop_token& stop);

    std::shared_ptr<ServerBook> book_;
    std::chrono::milliseconds patience_;
    std::optional<Model> model_;
    ServerChoice choice_;
    engine::SequenceId last_sequence_ = 0;
    TurnThreads turns_;  // destroyed first, being last: its threads use the members above
};

/// Looks at a model of a server in the book, as engine::inspect_model does at a file. `may`: whether the user may be
/// asked to unlock the password store for its key.
engine::Result<engine::ModelInfo> inspect_remote_model(ServerBook& book, const std::filesystem::path& path,
                                                       secrets::MayAsk may, const std::stop_token& stop);

}  // namespace remote
