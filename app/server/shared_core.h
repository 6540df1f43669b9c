// SharedCore is what the seats of a SharedEngine share: who is in the engine, and what waits for whom.
#pragma once

#include "app/server/shared_engine.h"
#include "engine/engine.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace server {

/// Something that the engine said.
using EngineNews =
    std::variant<engine::PromptLedger, std::string, engine::TokenLogprobs, engine::Telemetry, engine::Event>;
void tell(const engine::Listener& listener, const EngineNews& news);

/// Holds what a seat has in the engine, by numbers of its own: so none reaches what is another's, or of a model that is
/// gone. Guarded by the core's mutex.
struct SeatPlace {
    struct Held {
        engine::TurnId id = 0;
        engine::TurnId in_engine = 0;  // 0: it is not there yet, or no more
        bool over = false;
        std::optional<engine::Result<engine::Turn>> result = {};  // of one that has ended with its model
    };
    struct TurnNews {
        engine::TurnId turn;
        std::shared_ptr<const engine::Listener> listener;
        EngineNews news;
    };

    Held* find(engine::TurnId id);
    bool runs() const;

    const bool owner;
    const std::function<void()> wake;
    bool woken = false;
    std::uint64_t generation = 0;  // of a guest: what it saw when it looked last
    std::list<Held> turns = {};
    std::map<engine::SequenceId, engine::SequenceId> sequences = {};  // those in the engine
    std::deque<TurnNews> turn_news = {};
    std::deque<EngineNews> general_news = {};
    engine::SequenceId last_sequence = 0;
    engine::TurnId last_turn = 0;
};

/// The core lives as long as any seat.
class SharedCore
{
public:
    using Place = std::shared_ptr<SeatPlace>;

    /// While a pass lives its place has entered, and the engine is its thread's. `false`: a guest is not admitted.
    class Pass
    {
    public:
        Pass(SharedCore& core, const Place& place)
            : core_(core)
            , entered_(core.enter(place))
        {
        }
        ~Pass()
        {
            if (entered_)
                core_.leave();
        }
        Pass(const Pass&) = delete;
        Pass& operator=(const Pass&) = delete;
        explicit operator bool() const { return entered_; }

    private:
        SharedCore& core_;
        const bool entered_;
    };

    SharedCore(std::unique_ptr<engine::Engine> engine, SharedEngine::Admits admits);

    Place add_place(bool owner, std::function<void()> wake);
    void remove_place(const Place& place);

    // ---- of the place that has entered ----

    /// Null: the owner is gone.
    std::unique_ptr<engine::Engine> engine;
    /// Returns the listener that the engine is given for a turn: it tells the turn's seat what is the turn's, and all
    /// what is the model's.
    engine::Listener of_turn(const Place& place, engine::TurnId id, engine::SequenceId sequence,
                             const engine::Listener& listener);
    /// Does the same for what a step or a poll says of no turn. It refers to the listener.
    engine::Listener of_no_turn(const Place& place, const engine::Listener& listener);
    void mark_over(const std::vector<engine::TurnId>& in_engine);
    /// A model goes: the guests' turns and conversations do, and the owner's where it is the one that closes it.
    enum class Whose { Guests, All };
    void close(Whose whose, const char* sentence);
    void opened(const engine::ModelInfo& model);
    /// An engine closes a model by itself whose file went away under it.
    void look_whether_it_is_there();

    // ---- any thread ----

    std::function<void()> on_guest_turn;  // set before there is a guest
    OpenModel open() const;
    OpenModel look(SeatPlace& place);
    bool admits(const SeatPlace& place) const;
    bool loaded() const;
    int guest_turns() const;

    mutable std::mutex mutex;  // of the places and of all below; never held while the engine is called

private:
    bool enter(const Place& place);
    void leave();
    bool may_enter(const SeatPlace& place) const;
    void wake_owner();
    void wake_guests();
    void add_general(SeatPlace& to, EngineNews news);
    void tell_turn(const Place& place, engine::TurnId id, const std::shared_ptr<const engine::Listener>& listener,
                   EngineNews news);
    void tell_others(const SeatPlace& place, const EngineNews& news);
    engine::Telemetry of_memory(const engine::Telemetry& frame) const;
    engine::Event seen_by(const SeatPlace& place, const engine::Event& event) const;
    void show_owner(const engine::Telemetry& frame);

    const SharedEngine::Admits admits_;
    std::condition_variable moved_;
    std::list<const SeatPlace*> queue_;
    bool taken_ = false;
    bool loaded_ = false;
    OpenModel open_;
    std::vector<Place> places_;
    // Of who has entered:
    const SeatPlace* inside_ = nullptr;
    engine::Telemetry owners_frame_;           // the newest that is of the owner's conversation
    engine::SequenceId owners_in_engine_ = 0;  // that conversation
};

}  // namespace server
