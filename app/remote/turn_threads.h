// TurnThreads answers several turns at the same time, each on a thread of its own, and calls their listeners on the
// thread that calls step().
#pragma once

#include "engine/engine.h"

#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

namespace remote {

/// Has begin(), step() and end() for engine::Engine's functions of these names: all on one thread, on which the
/// listeners are called.
class TurnThreads
{
public:
    /// Answers a turn from its beginning to its end. Runs on the turn's thread and calls the listener from there.
    using Work = std::function<engine::Result<engine::Turn>(const engine::Listener&, const std::stop_token&)>;

    TurnThreads() = default;
    TurnThreads(const TurnThreads&) = delete;
    TurnThreads& operator=(const TurnThreads&) = delete;
    ~TurnThreads() { clear(); }

    std::size_t count() const { return turns_.size(); }
    engine::TurnId begin(Work work, const engine::Listener& listener, const std::stop_token& stop);
    /// Waits for news of the turns, 20 ms at most, and passes it to their listeners. Returns the turns that are over
    /// and have nothing left to pass on.
    std::vector<engine::TurnId> step();
    /// Ends a turn, which is stopped if it still runs; news since the last step is dropped.
    engine::Result<engine::Turn> end(engine::TurnId id);
    /// Stops all and waits for them.
    void clear();

private:
    struct RequestStop {
        std::stop_source source;
        void operator()() const { source.request_stop(); }
    };
    struct Turn {
        Turn(engine::TurnId id_, const engine::Listener& listener_, const std::stop_token& stop_)
            : id(id_)
            , listener(listener_)
            , on_stop(stop_, RequestStop{stop})
        {
        }
        engine::TurnId id;
        engine::Listener listener;
        std::stop_source stop;
        std::stop_callback<RequestStop> on_stop;
        std::optional<engine::Result<engine::Turn>> result = {};
        std::jthread thread = {};
    };
    struct News {
        engine::TurnId turn;
        std::function<void()> tell;
    };
    engine::Listener collecting(const Turn& turn);
    void add(News news);

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<News> news_;  // the oldest first
    std::list<Turn> turns_;
    engine::TurnId last_ = 0;
};

}  // namespace remote
