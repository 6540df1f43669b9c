// EngineDesk takes turns from many connections and has one engine answer them, several side by side.
#pragma once

#include "app/server/ask.h"
#include "app/server/clock.h"
#include "app/server/known_conversations.h"
#include "app/server/metrics.h"
#include "app/server/model_text.h"
#include "app/server/shared_engine.h"
#include "app/server/turn_events.h"
#include "engine/engine.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace server {

/// Holds the values that apply where a request says nothing.
struct Unsaid {
    engine::SamplingOptions sampling = {};
    int max_tokens = -1;  // of an answer; -1: until it ends or the context is full
};

struct DeskOptions {
    int turns = 4;                   // side by side at most, engine::kMostRowsTogether of them
    int waiting = 64;                // turns that may wait besides; more are refused as Busy
    std::size_t conversations = 16;  // whose KV is kept for their next request, as far as there is memory
    engine::Drafters drafters = engine::Drafters::All;  // methods of drafting that are used
    int most_drafted = engine::kMostRowsTogether - 1;
    std::chrono::milliseconds idle_unload{0};  // an unused model is unloaded after this time; 0: never
    engine::LoadRequest load = {};             // options for loading a model that a request names
    Unsaid unsaid = {};
};

/// Describes a loaded model; any thread may read it.
struct Served {
    std::string name;  // as clients call it
    engine::ModelInfo info;
    std::unique_ptr<ModelText> text;
    Unsaid unsaid = {};
};

/// Owns the engine's thread. Its functions may be called from any thread.
class EngineDesk
{
public:
    EngineDesk(std::unique_ptr<engine::Engine> engine, DeskOptions options, Metrics& metrics);
    /// Answers with the model that is open in an engine that somebody else owns, and loads nothing. `opened` is called
    /// at first, and on the engine's thread whenever another model is open; empty: none is.
    using Opened = std::function<void(std::optional<ModelFile>)>;
    EngineDesk(SharedEngine& shared, DeskOptions options, Metrics& metrics, Opened opened);
    ~EngineDesk();

    /// Loads a model and waits for that.
    engine::Status load(const engine::LoadRequest& request, std::string name, const engine::Listener& listener);
    /// Returns the model that is loaded. Null: none is.
    std::shared_ptr<const Served> served() const;
    /// Returns the name of the model that was loaded last, also where it has left memory since. Empty: none was.
    std::string last_name() const;
    const Unsaid& unsaid() const { return options_.unsaid; }
    /// Loads the model, unless it is loaded, and waits for that.
    engine::Result<std::shared_ptr<const Served>> need(const ModelFile& file);
    /// Frees the model's memory, where it is loaded, after the answers that are being written. The model is loaded
    /// again when it is needed. Unsupported: somebody else has opened it.
    engine::Status let_go(const ModelFile& file);

    struct Submitted {
        std::shared_ptr<EventQueue> events;
        std::vector<std::shared_ptr<TurnEvents>> turns;  // one for each answer
        int choices = 1;                                 // this many of them answer the same prompt
    };
    /// Queues a turn for each answer that is asked for. Busy: too many wait already.
    tl::expected<Submitted, Refusal> submit(Ask ask);
    /// Embeds texts, one at least, with a model that is loaded for that unless it is, and waits for that. The model
    /// stays until the last text; answers go on between two texts. `client_is_gone` is asked on the engine's thread.
    engine::Result<std::vector<engine::Embedding>> embed(const ModelFile& with,
                                                         const std::vector<engine::EmbeddingInput>& texts,
                                                         const std::function<bool()>& client_is_gone);

    struct Queue {
        int running = 0;
        int waiting = 0;
    };
    Queue queue() const;

    /// Holds the state of one place for a running turn.
    struct Slot {
        bool running = false;
        int context_tokens = 0;
        int prompt_tokens = 0;
        int cached_tokens = 0;  // of them
        int answer_tokens = 0;
    };
    std::vector<Slot> turn_slots() const;

    /// Takes no more turns, lets present ones run for `grace` at most, then ends them.
    void close(std::chrono::milliseconds grace);

private:
    struct Waiting {
        Ask ask;
        std::shared_ptr<TurnEvents> events;
        Clock::time_point since;
    };

    struct Running;  // a running turn; used on the engine's thread
    // The part of a running turn that other threads may read.
    struct Place {
        std::shared_ptr<TurnEvents> events;  // null: the place is free
        Slot slot;
    };

    struct Job;    // waits for the engine's thread
    struct Batch;  // of texts to embed; used on the engine's thread

    engine::Status load_now(const engine::LoadRequest& request, std::string name, const engine::Listener& listener,
                            std::stop_token stop);
    engine::Status ensure(const ModelFile& file, std::stop_token stop);
    engine::Status ensure_for(const Waiting& asked);
    bool one_waits_for(const ModelFile& file) const;
    void unload();
    void set_served(std::shared_ptr<const Served> served);
    bool serves(const ModelFile& file) const;
    void follow();
    void take_up(const OpenModel& open);
    void wake();
    int running_count() const;
    void forget_those_that_left();
    void work();
    bool wait_for_work();
    void push(Job job);
    void do_jobs();
    bool another_model_is_waited_for() const;
    void begin_those_that_may();
    std::optional<Waiting> next_to_begin(std::size_t& place);
    void begin(Waiting asked, std::size_t place);
    void leave(std::size_t place);
    void step();
    void end(std::list<Running>::iterator running, const engine::Result<engine::Turn>& turn);
    engine::Listener listener_of(Running& running);
    engine::Result<engine::SequenceId> sequence_for(const std::string& text);
    template <class Work>
    auto on_engine_thread(Work work) -> decltype(work());

    std::unique_ptr<engine::Engine> engine_;
    GuestEngine* guest_ = nullptr;  // engine_, where it is borrowed
    Opened opened_;
    std::uint64_t generation_ = 0;  // of the model that is open there
    const DeskOptions options_;
    Metrics& metrics_;
    KnownConversations known_;    // of the engine's thread
    std::list<Running> running_;  // of the engine's thread, in the order in which they began

    mutable std::mutex mutex_;
    std::condition_variable came_;
    std::list<Job> jobs_;
    std::deque<Waiting> waiting_;
    engine::LoadRequest load_;  // of the engine's thread
    std::vector<Place> places_;
    std::shared_ptr<const Served> served_;
    std::string last_name_;  // of those that were served
    bool closed_ = false, ends_ = false, posted_ = false;
    std::stop_source closing_;  // stops loads without a turn, and embedding
    std::thread thread_;        // last, so that all the members that it uses exist when it starts
};

}  // namespace server
