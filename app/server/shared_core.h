// SharedCore holds what the seats of a SharedEngine share: the engine, the seat that is in it, and news that wait for
// seats.
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

/// One report of the engine, as one of the arguments of its listeners.
using EngineNews =
    std::variant<engine::PromptLedger, std::string, engine::TokenLogprobs, engine::Telemetry, engine::Event>;
void tell(const engine::Listener& listener, const EngineNews& news);

/// Holds a seat's turns and sequences in the engine under numbers of its own, so that no seat reaches another's, or
/// those of a model that is gone. Guarded by the core's mutex.
struct SeatPlace {
    struct Held {
        engine::TurnId id = 0;
        engine::TurnId in_engine = 0;  // 0: it has not begun there, or is gone
        bool over = false;
        std::optional<engine::Result<engine::Turn>> result = {};  // of a turn that ended with its model
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
    std::uint64_t generation = 0;  // a guest's: generation of the model when it looked last
    std::list<Held> turns = {};
    std::map<engine::SequenceId, engine::SequenceId> sequences = {};  // the engine's number by the seat's own
    std::deque<TurnNews> turn_news = {};
    std::deque<EngineNews> general_news = {};
    engine::SequenceId last_sequence = 0;
    engine::TurnId last_turn = 0;
};

/// Lives as long as any seat.
class SharedCore
{
public:
    using Place = std::shared_ptr<SeatPlace>;

    /// While a pass lives, its place has entered, and only its thread may use the engine. `false`: a guest is not
    /// admitted.
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

    // ---- called by the place that has entered ----

    /// The engine; null: the owner is gone.
    std::unique_ptr<engine::Engine> engine;
    /// Returns the listener that the engine gets for a turn. It passes the turn's news to the turn's seat, and news of
    /// the model to all seats.
    engine::Listener of_turn(const Place& place, engine::TurnId id, engine::SequenceId sequence,
                             const engine::Listener& listener);
    /// Returns the listener for news of no turn in a step or a poll. `listener` outlives it.
    engine::Listener of_no_turn(const Place& place, const engine::Listener& listener);
    void mark_over(const std::vector<engine::TurnId>& in_engine);
    /// Ends turns and conversations when a model is closed: the guests', and with Whose::All the owner's as well.
    enum class Whose { Guests, All };
    void close(Whose whose, const char* sentence);
    void opened(const engine::ModelInfo& model);
    /// Looks whether the engine has closed the model by itself, since its file is gone, and ends the guests' turns
    /// then.
    void look_whether_it_is_there();

    // ---- any thread ----

    std::function<void()> on_guest_turn;  // set before there is any guest
    OpenModel open() const;
    OpenModel look(SeatPlace& place);
    bool admits(const SeatPlace& place) const;
    bool loaded() const;
    int guest_turns() const;

    mutable std::mutex mutex;  // guards the places and all members below; never held while the engine is called

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
    // Used by the place that has entered only:
    const SeatPlace* inside_ = nullptr;
    engine::Telemetry owners_frame_;           // the newest that is of the owner's conversation
    engine::SequenceId owners_in_engine_ = 0;  // that conversation
};

}  // namespace server
