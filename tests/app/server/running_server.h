// A server on a free port, and engines to put behind it.
#pragma once

#include "app/server/server.h"
#include "tests/app/server/client.h"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace server_test {

inline std::filesystem::path guide_model()
{
    return SPILLWAY_SOURCE_DIR "/resources/guide-model/guide.gguf";
}

/// Says "a" over and over: as many as it was allowed to, until the turn is stopped.
class GateEngine : public engine::Engine
{
public:
    engine::Result<engine::ModelInfo> load(const engine::LoadRequest& request, const engine::Listener&,
                                           std::stop_token) override
    {
        engine::ModelInfo info;
        info.path = request.model;
        return info;
    }
    void unload() override {}
    bool loaded() const override { return true; }
    engine::Result<engine::SequenceId> create_sequence() override { return ++sequences; }
    engine::Result<engine::SequenceId> branch(engine::SequenceId, int) override { return ++sequences; }
    void end_sequence(engine::SequenceId) override { ++ended; }
    // The server runs one turn after the other.
    engine::Result<engine::TurnId> begin(engine::SequenceId, const engine::Request&, const engine::Listener&,
                                         std::stop_token) override
    {
        return engine::fail(engine::Error::Code::Unsupported, "this engine runs whole turns only");
    }
    std::vector<engine::TurnId> step(const engine::Listener&) override { return {}; }
    engine::Result<engine::Turn> end(engine::TurnId) override
    {
        return engine::fail(engine::Error::Code::Unsupported, "this engine runs whole turns only");
    }
    engine::Result<engine::Turn> generate(engine::SequenceId, const engine::Request& request,
                                          const engine::Listener& listener, std::stop_token stop) override
    {
        listener.on_prompt({});
        engine::Turn turn;
        for (;;) {
            std::unique_lock lock(mutex);
            running = request.messages.back().text;
            changed.notify_all();
            changed.wait(lock, stop, [&] { return allowed > 0 || finishes; });
            if (stop.stop_requested() || finishes) {
                turn.reason = stop.stop_requested() ? engine::StopReason::Cancelled : engine::StopReason::EndOfTurn;
                ended_turns += request.messages.back().text + ';';
                changed.notify_all();
                return turn;
            }
            --allowed;
            lock.unlock();
            listener.on_text("a");
        }
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

    std::mutex mutex;
    std::condition_variable_any changed;
    std::string running, ended_turns;
    int sequences = 0, ended = 0, allowed = 0;
    bool finishes = false;
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
