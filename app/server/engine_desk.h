// EngineDesk takes turns from many connections and has one engine answer them, one after another.
#pragma once

#include "app/server/ask.h"
#include "app/server/clock.h"
#include "app/server/known_conversations.h"
#include "app/server/metrics.h"
#include "app/server/model_text.h"
#include "app/server/turn_events.h"
#include "engine/engine.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace server {

struct DeskOptions {
    int waiting = 64;                // turns at most, then Busy
    std::size_t conversations = 16;  // whose KV is kept for when they come again, as far as there is memory
    int most_drafted = 15;
};

/// A loaded model, as all threads may read it.
struct Served {
    std::string name;  // as clients call it
    engine::ModelInfo info;
    std::unique_ptr<ModelText> text;
};

/// The engine's thread is its own. Its functions may be called from any.
class EngineDesk
{
public:
    EngineDesk(std::unique_ptr<engine::Engine> engine, DeskOptions options, Metrics& metrics);
    ~EngineDesk();

    /// Waits until the model is there.
    engine::Status load(const engine::LoadRequest& request, std::string name, const engine::Listener& listener);
    std::shared_ptr<const Served> served() const;

    /// Queues a turn. Refused where too many wait.
    tl::expected<std::shared_ptr<TurnEvents>, Refusal> submit(Ask ask);
    /// Waits until the engine has counted, which it does between tokens.
    engine::Result<engine::PromptLedger> count(const engine::Request& request);

    struct Queue {
        int running = 0;
        int waiting = 0;
    };
    Queue queue() const;

    /// Takes no more turns, gives those that are there this long, then ends them.
    void close(std::chrono::milliseconds grace);

private:
    struct Waiting {
        Ask ask;
        std::shared_ptr<TurnEvents> events;
        Clock::time_point since;
    };

    // Loading waits for the end of a turn, counting for the next token.
    enum class When { BetweenTokens, BetweenTurns };
    struct Job {
        When when;
        std::function<void()> work;
    };

    void work();
    void do_jobs(When now);
    void answer(Waiting& waiting);
    engine::Result<engine::SequenceId> sequence_for(const std::string& text);
    template <class Work>
    auto on_engine_thread(When when, Work work) -> decltype(work());

    std::unique_ptr<engine::Engine> engine_;
    const DeskOptions options_;
    Metrics& metrics_;
    KnownConversations known_;  // of the engine's thread

    mutable std::mutex mutex_;
    std::condition_variable came_;
    std::deque<Job> jobs_;
    std::deque<Waiting> waiting_;
    std::shared_ptr<TurnEvents> running_;
    std::shared_ptr<const Served> served_;
    bool closed_ = false, ends_ = false, posted_ = false;
    std::thread thread_;  // last: it uses all of these
};

}  // namespace server
