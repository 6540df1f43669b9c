// EngineCommands carries out what is posted to the engine.
#pragma once

#include "engine/engine.h"
#include "engine/run/conversations.h"
#include "engine/run/loaded_model.h"
#include "engine/run/saved_conversations.h"

#include <chrono>
#include <functional>
#include <memory>

namespace engine {

// The longest that a user waits for the disk who asks for something else; what is not written by then is computed
// again.
constexpr std::chrono::milliseconds kGraceForSaving{2000};

/// Holds the state that commands change.
struct EngineState {
    std::unique_ptr<LoadedModel> model;  // null: none is loaded
    std::unique_ptr<DraftModel> draft;   // guesses for it; null: there is none
    std::unique_ptr<MtpModel> mtp;       // the block in its own file that guesses; null: there is none
    SavedConversations saved;
    Conversations conversations;
    bool loading = false;
    bool cancel_load = false;
    bool placement_changed = false;  // since the last frame
};

/// Owned by the engine, on its thread.
class EngineCommands
{
public:
    /// `wake`, which any thread may call, has the owner call poll(). The state outlives this.
    EngineCommands(EngineState& state, std::function<void()> wake)
        : state_(state)
        , wake_(std::move(wake))
    {
    }
    /// Carries out a command; fills in whether it was done, and a sentence.
    void carry_out(const Command& command, Event& answer);

private:
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

    EngineState& state_;
    std::function<void()> wake_;
};

}  // namespace engine
