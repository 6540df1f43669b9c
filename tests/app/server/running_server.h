// RunningServer runs a server on a free port; GateEngine is an engine to put behind it.
#pragma once

#include "app/server/server.h"
#include "tests/app/server/client.h"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace server_test {

inline constexpr const char* kChatPath = "/v1/chat/completions";

inline std::filesystem::path guide_model()
{
    return SPILLWAY_SOURCE_DIR "/resources/guide-model/guide.gguf";
}

/// Each of its turns says "a" over and over: as many as were allowed in all, until the turn is stopped.
class GateEngine : public engine::Engine
{
public:
    engine::Result<engine::ModelInfo> load(const engine::LoadRequest& request, const engine::Listener&,
                                           std::stop_token) override
    {
        engine::ModelInfo info;
        info.path = request.model;
        loaded_models.append(QString::fromStdString(request.model.filename().string()));
        return info;
    }
    void unload() override {}
    bool loaded() const override { return true; }
    engine::Result<engine::SequenceId> create_sequence() override { return ++sequences; }
    engine::Result<engine::SequenceId> branch(engine::SequenceId from, int) override
    {
        const std::lock_guard lock(mutex);
        branched_from.push_back(from);
        return ++sequences;
    }
    void end_sequence(engine::SequenceId) override { ++ended; }
    engine::Result<engine::TurnId> begin(engine::SequenceId sequence, const engine::Request& request,
                                         const engine::Listener& listener, std::stop_token stop) override
    {
        const std::lock_guard lock(mutex);
        for (const GateTurn& turn : turns)
            if (turn.sequence == sequence)
                return engine::fail(engine::Error::Code::BadRequest, "this conversation is being answered");
        turns.push_back({++last_turn, sequence, request.messages.back().text, listener, std::move(stop), false});
        listener.on_prompt({});
        running = turns.back().name;
        begun += running + ';';
        most_together = std::max(most_together, int(turns.size()));
        changed.notify_all();
        return last_turn;
    }
    std::vector<engine::TurnId> step(const engine::Listener&) override
    {
        std::unique_lock lock(mutex);
        const auto stopped = [](const GateTurn& turn) { return turn.stop.stop_requested(); };
        changed.wait_for(lock, std::chrono::milliseconds(2),
                         [&] { return allowed > 0 || finishes || std::ranges::any_of(turns, stopped); });
        std::vector<engine::TurnId> over;
        for (GateTurn& turn : turns) {
            if (warns == turn.name)
                turn.listener.on_event({.kind = engine::Event::Kind::Warning, .sentence = "no memory"});
            if (stopped(turn) || finishes || finished == turn.name) {
                turn.cancelled = stopped(turn);
                over.push_back(turn.id);
            } else if (allowed > 0) {
                --allowed;
                turn.listener.on_text("a");
            }
        }
        changed.notify_all();
        return over;
    }
    engine::Result<engine::Turn> end(engine::TurnId id) override
    {
        const std::lock_guard lock(mutex);
        const auto found = std::ranges::find(turns, id, &GateTurn::id);
        engine::Turn turn;
        turn.reason = found->cancelled ? engine::StopReason::Cancelled : engine::StopReason::EndOfTurn;
        ended_turns += found->name + ';';
        turns.erase(found);
        changed.notify_all();
        return turn;
    }
    engine::Result<engine::Turn> generate(engine::SequenceId, const engine::Request&, const engine::Listener&,
                                          std::stop_token) override
    {
        return engine::fail(engine::Error::Code::Unsupported, "the server runs its turns by steps");
    }
    engine::Result<int> count_tokens(std::string_view, std::stop_token) const override { return 1; }
    engine::Result<engine::PromptLedger> count_prompt(const engine::Request&, std::stop_token) const override
    {
        return engine::PromptLedger{7, 0, {}, {}};
    }
    std::uint64_t post(engine::Command) override { return 1; }
    void poll(const engine::Listener&) override {}

    // ---- of the test's thread ----

    void allow(int tokens)
    {
        const std::lock_guard lock(mutex);
        allowed += tokens;
        changed.notify_all();
    }
    void finish_all()
    {
        const std::lock_guard lock(mutex);
        finishes = true;
        changed.notify_all();
    }
    template <class Condition>
    bool wait(Condition condition)
    {
        std::unique_lock lock(mutex);
        return changed.wait_for(lock, std::chrono::milliseconds(kPatience_ms), condition);
    }

    void finish(std::string name)
    {
        const std::lock_guard lock(mutex);
        finished = std::move(name);
        changed.notify_all();
    }

    struct GateTurn {
        engine::TurnId id;
        engine::SequenceId sequence;
        std::string name;  // its last message
        engine::Listener listener;
        std::stop_token stop;
        bool cancelled;
    };
    std::mutex mutex;
    std::condition_variable_any changed;
    std::vector<GateTurn> turns;
    engine::TurnId last_turn = 0;
    std::string running;             // the turn that began last
    std::string begun, ended_turns;  // their names, each with a semicolon
    std::string warns, finished;     // which turn is said to wait for memory, which is to end
    std::vector<engine::SequenceId> branched_from;
    int sequences = 0, ended = 0, allowed = 0, most_together = 0;
    bool finishes = false;
    QStringList loaded_models;  // of the engine's thread, while nobody waits for it
};

class RunningServer
{
public:
    explicit RunningServer(std::unique_ptr<engine::Engine> engine = engine::make_engine(),
                           server::ServerOptions options = {}, engine::LoadRequest load = {})
    {
        options.http.port = 0;
        server_ = std::make_unique<server::Server>(std::move(engine), std::move(options));
        if (load.model.empty())
            load.model = guide_model();
        load.threads = 1;
        const auto loaded = server_->load(load, "guide", {});
        const auto opened = server_->open();
        if (!loaded || !opened)
            qFatal("the server does not start: %s", (!loaded ? loaded.error() : opened.error()).what.c_str());
        thread_ = std::jthread([this] { server_->run(); });
    }
    ~RunningServer() { server_->stop(); }

    int port() const { return QByteArray::fromStdString(server_->url()).split(':').last().toInt(); }
    server::Server& operator*() { return *server_; }

    Answer get(const QByteArray& path, const QByteArray& headers = {}) const
    {
        return Client(port()).ask("GET", path, {}, headers);
    }
    Answer post(const QByteArray& path, const QJsonObject& body, const QByteArray& headers = {}) const
    {
        return Client(port()).ask("POST", path, QJsonDocument(body).toJson(QJsonDocument::Compact), headers);
    }

private:
    std::unique_ptr<server::Server> server_;
    std::jthread thread_;
};

}  // namespace server_test
