// LocalEngine is the real engine: one loaded model, its conversations, and a mailbox that is read between steps.
#pragma once

#include "engine/engine.h"
#include "engine/run/conversations.h"
#include "engine/run/frames.h"
#include "engine/run/loaded_model.h"
#include "engine/run/mailbox.h"
#include "engine/run/saved_conversations.h"
#include "engine/run/turn.h"

#include <chrono>
#include <memory>

namespace engine {

class LocalEngine final : public Engine
{
public:
    ~LocalEngine() override;
    Result<ModelInfo> load(const LoadRequest& request, const Listener& listener, std::stop_token stop) override;
    void unload() override;
    bool loaded() const override { return model_ != nullptr; }

    Result<SequenceId> create_sequence() override;
    Result<SequenceId> branch(SequenceId from, int tokens) override;
    void end_sequence(SequenceId sequence) override;

    Result<Turn> generate(SequenceId sequence, const Request& request, const Listener& listener,
                          std::stop_token stop) override;
    Result<int> count_tokens(std::string_view text, std::stop_token stop) const override;
    Result<PromptLedger> count_prompt(const Request& request, std::stop_token stop) const override;

    std::uint64_t post(Command command) override;
    void poll(const Listener& listener) override;

private:
    // A user who asks for something else waits for the disk no longer than this; what is not written then is computed
    // again.
    static constexpr std::chrono::milliseconds kGraceForSaving{2000};

    Result<Turn> run(TurnRunner& runner);
    Result<Turn> generate_checked(Conversation& conversation, const Request& request, const Listener& listener,
                                  std::stop_token stop);
    void carry_out(const PlacementCommand& command, Event& answer);
    void carry_out(const SetThreads& command, Event& answer);
    void carry_out(const CancelLoad& command, Event& answer);
    void carry_out(const SetKvTypes& command, Event& answer);
    void carry_out(const SetRates& command, Event& answer);
    void carry_out(const SetPins& command, Event& answer);
    void carry_out(const SetDevice& command, Event& answer);
    void carry_out(const SetSavedKv& command, Event& answer);
    void carry_out(const ForgetSavedKv& command, Event& answer);
    void carry_out(const KeepSavedKv& command, Event& answer);
    template <class Ask>
    void ask_placement(Event& answer, const Ask& ask);
    void attend(const Listener& listener);
    static void tell_of(const Error& error, const Listener& listener) noexcept;
    void carry_out_posted(const Listener& listener);
    void send_placement_events(const Listener& listener);
    void send_idle_frame(const Listener& listener);
    void collect_saved(const Listener& listener);
    bool make_room(const Conversation& except);

    std::unique_ptr<LoadedModel> model_;
    Frames frames_;
    SavedConversations saved_;
    Conversations conversations_;
    Mailbox mailbox_;
    bool loading_ = false;
    bool generating_ = false;
    bool placement_changed_ = false;  // since the last frame
    bool cancel_load_ = false;
    bool said_no_template_ = false;  // once per model
};

}  // namespace engine
