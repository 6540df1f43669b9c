// LocalEngine is the real engine: one loaded model, its conversations and their turns, and a mailbox that is read
// between steps.
#pragma once

#include "engine/engine.h"
#include "engine/run/engine_commands.h"
#include "engine/run/frames.h"
#include "engine/run/mailbox.h"
#include "engine/run/running_turns.h"

#include <memory>

namespace engine {

class LocalEngine final : public Engine
{
public:
    ~LocalEngine() override;
    Result<ModelInfo> load(const LoadRequest& request, const Listener& listener, std::stop_token stop) override;
    void unload() override;
    bool loaded() const override { return state_.model != nullptr; }

    Result<SequenceId> create_sequence() override;
    Result<SequenceId> branch(SequenceId from, int tokens) override;
    void end_sequence(SequenceId sequence) override;

    Result<Turn> generate(SequenceId sequence, const Request& request, const Listener& listener,
                          std::stop_token stop) override;
    Result<TurnId> begin(SequenceId sequence, const Request& request, const Listener& listener,
                         std::stop_token stop) override;
    std::vector<TurnId> step(const Listener& listener) override;
    Result<Turn> end(TurnId turn) override;
    Result<int> count_tokens(std::string_view text, std::stop_token stop) const override;
    Result<PromptLedger> count_prompt(const Request& request, std::stop_token stop) const override;

    Result<Embedding> embed(const EmbeddingInput& input, std::stop_token stop) override;

    std::uint64_t post(Command command) override;
    void poll(const Listener& listener) override;

private:
    Status load_draft(const LoadRequest& request, const LoadedModel::Progress& progress);
    MtpModel* mtp_for(const Request& request, const Listener& listener);
    Status begin_checked(RunningTurn& turn, const Request& request, std::stop_token stop);
    std::vector<TurnId> finish_turns(const Listener& listener);
    void finish(RunningTurn& turn, const Listener& listener);
    void end_turn_of(SequenceId sequence);
    void end_all_turns();
    void attend(const Listener& listener);
    bool move_something();
    void go_on_moving();
    static void tell_of(const Error& error, const Listener& listener) noexcept;
    void carry_out_posted(const Listener& listener);
    void send_placement_events(const Listener& listener);
    void send_idle_frame(const Listener& listener);
    void collect_saved(const Listener& listener);
    bool make_room();
    Frames& frames();

    EngineState state_;
    Frames frames_;  // while there is no conversation
    RunningTurns turns_;
    Mailbox mailbox_;
    EngineCommands commands_{state_, [this] {
                                 if (on_posted)
                                     on_posted();
                             }};
    bool moves_on_ = false;          // not everything has moved yet that is to lie elsewhere
    bool said_no_template_ = false;  // once per model; so below
    bool looked_for_mtp_ = false;
};

}  // namespace engine
