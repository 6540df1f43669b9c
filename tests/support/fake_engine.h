// FakeEngine answers without a model: for tests, and for work on the window.
#pragma once

#include "engine/engine.h"
#include "engine/expert_map.h"

#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Holds what the fake engine says and does. Shared with the test, which may change it between calls; guarded by a
/// mutex, since the engine reads it on its own thread.
class FakeScript
{
public:
    struct Settings {
        std::vector<std::string> words = {"one ", "two ", "three"};  // a token each
        bool echoes = false;                                         // the last message's words in their place
        bool says_turn = false;                                      // each word is the turn's number, counted from 1
        std::chrono::microseconds per_token{0};
        std::chrono::microseconds prefill{0};
        std::chrono::microseconds load{0};
        std::chrono::microseconds count{0};       // a prompt
        std::chrono::microseconds count_text{0};  // a text by itself
        bool counts_prompts = true;
        int context_tokens = 2048;
        int model_context_tokens = 0;  // it was made for; 0: the same
        std::optional<engine::Error> load_error;
        std::optional<engine::Error> generate_error;
        int tokens_before_error = 0;
        engine::TurnId turn_with_error = 0;       // the only one, counted from 1; 0: all
        std::optional<std::string> warning;       // sent as an event before the first token
        std::optional<engine::Event> event = {};  // sent, too
        bool has_chat_template = true;
        std::vector<std::string> template_arguments;
        bool runnable = true;
        int recurrent_layers = 0;                       // of 16; the others keep KV
        std::optional<engine::DeviceTelemetry> device;  // of every frame; a command changes its layers and its budget
        bool in_long_step = false;                      // what is posted waits for its end
        std::optional<std::string> device_error;        // why none can be opened while the model is there
        std::optional<engine::StepShares> shares;       // of every answer's last frame
        int drafted_tokens = 0, accepted_tokens = 0;    // likewise
        bool by_block = false;                          // that of the model's own file has drafted them
        std::vector<engine::TextRange> guessed;         // of every answer
        int threads = 0, cores = 0;                     // of every frame
        int layers_that_fit = 16;                       // what SetDeviceLayers without a number comes to
        std::shared_ptr<const engine::KvMap> kv_map;
        std::shared_ptr<const engine::ExpertMap> expert_map;
    };

    Settings settings() const;
    /// Returns one setting. It is asked for with every token, and a copy of all settings would copy all words of the
    /// answer.
    template <class Setting>
    Setting one_of(Setting Settings::*setting) const
    {
        const std::lock_guard lock(mutex_);
        return settings_.*setting;
    }
    template <class Change>
    void change(Change&& change_settings)
    {
        const std::lock_guard lock(mutex_);
        change_settings(settings_);
    }

    // What the engine was asked for, in order.
    std::vector<engine::Request> requests() const;
    std::vector<engine::LoadRequest> loads() const;
    std::vector<engine::Command> commands() const;  // as they were carried out
    int live_engines() const;
    int stopped_turns() const;
    int counted_prompts() const;
    int counted_texts() const;  // also those that are being counted
    int live_sequences() const;
    std::vector<engine::SequenceId> sequences() const;      // of each request
    std::vector<engine::SequenceId> branched_from() const;  // at each branch()

    engine::ModelInfo model(const std::filesystem::path& path) const;

private:
    friend class FakeEngine;
    mutable std::mutex mutex_;
    Settings settings_;
    std::vector<engine::Request> requests_;
    std::vector<engine::LoadRequest> loads_;
    std::vector<engine::Command> commands_;
    std::vector<engine::SequenceId> sequences_;
    std::vector<engine::SequenceId> branched_from_;
    int live_sequences_ = 0;
    int live_engines_ = 0;
    int stopped_turns_ = 0;
    int counted_prompts_ = 0;
    int counted_texts_ = 0;
};

/// Speaks its script, one word per token, at the pace it is told; stops within a token.
class FakeEngine : public engine::Engine
{
public:
    explicit FakeEngine(std::shared_ptr<FakeScript> script);
    ~FakeEngine() override;

    engine::Result<engine::ModelInfo> load(const engine::LoadRequest& request, const engine::Listener& listener,
                                           std::stop_token stop) override;
    void unload() override;
    bool loaded() const override { return loaded_; }
    engine::Result<engine::SequenceId> create_sequence() override;
    engine::Result<engine::SequenceId> branch(engine::SequenceId from, int tokens) override;
    void end_sequence(engine::SequenceId sequence) override;
    engine::Result<engine::Turn> generate(engine::SequenceId sequence, const engine::Request& request,
                                          const engine::Listener& listener, std::stop_token stop) override;
    engine::Result<engine::TurnId> begin(engine::SequenceId sequence, const engine::Request& request,
                                         const engine::Listener& listener, std::stop_token stop) override;
    std::vector<engine::TurnId> step(const engine::Listener& listener) override;
    engine::Result<engine::Turn> end(engine::TurnId turn) override;
    engine::Result<int> count_tokens(std::string_view text, std::stop_token stop) const override;
    engine::Result<engine::PromptLedger> count_prompt(const engine::Request& request,
                                                      std::stop_token stop) const override;
    std::uint64_t post(engine::Command command) override;
    void poll(const engine::Listener& listener) override;

private:
    struct FakeTurn;
    static int words_in(std::string_view text);
    static engine::PromptLedger ledger_of(const engine::Request& request);
    static engine::Telemetry placement_frame(const FakeScript::Settings& settings, int context_limit);
    static void settle(FakeTurn& t);
    void advance(FakeTurn& t);
    void cancel(FakeTurn& t);
    void carry_out(const engine::Command& command, const engine::Listener& listener, engine::Event& answer);
    void change_device(const engine::SetDevice& command, const engine::Listener& listener, engine::Event& answer);

    std::shared_ptr<FakeScript> script_;
    bool loaded_ = false;
    int context_tokens_ = 0;
    engine::SequenceId next_sequence_ = 1;
    std::vector<std::shared_ptr<FakeTurn>> turns_;
    engine::TurnId last_turn_ = 0;
    std::mutex posted_mutex_;
    std::deque<std::pair<std::uint64_t, engine::Command>> posted_;
    std::uint64_t last_command_ = 0;
};

/// Reads no file: any path that ends in .gguf and does not hold the word "broken" is the script's model.
engine::Result<engine::ModelInfo> inspect_fake(const FakeScript& script, const std::filesystem::path& path);
