#include "app/worker/engine_worker.h"

#include <utility>

namespace {

// 30 changes a second look fluent; more would only cost layouts.
constexpr qint64 kFlushIntervalMs = 33;
// Frames come about 20 times a second; an engine that sends more must not flood the window.
constexpr qint64 kFrameIntervalMs = 40;
constexpr qint64 kProgressIntervalMs = 33;

/// Stops when either of two tokens does.
class EitherStop
{
public:
    EitherStop(const std::stop_token& one, const std::stop_token& other)
        : m_one(one, Request{&m_source})
        , m_other(other, Request{&m_source})
    {
    }
    std::stop_token token() const { return m_source.get_token(); }

private:
    struct Request {
        std::stop_source* source;
        void operator()() const { source->request_stop(); }
    };
    std::stop_source m_source;
    std::stop_callback<Request> m_one;
    std::stop_callback<Request> m_other;
};

}  // namespace

EngineWorker::EngineWorker(std::unique_ptr<engine::Engine> engine, std::stop_token shutdown)
    : m_engine(std::move(engine))
    , m_shutdown(std::move(shutdown))
{
    m_engine->on_posted = [this] { QMetaObject::invokeMethod(this, &EngineWorker::poll, Qt::QueuedConnection); };
}

quint64 EngineWorker::post(const engine::Command& command)
{
    return m_engine->post(command);
}

void EngineWorker::load(quint64 job, const engine::LoadRequest& request, const std::stop_token& stop)
{
    const EitherStop either(stop, m_shutdown);
    m_sequence.reset();  // load() ends all of them

    QElapsedTimer sinceProgress;
    engine::Listener listener;
    listener.on_load = [this, job, &sinceProgress](const engine::LoadProgress& progress) {
        const bool last = progress.bytes_done == progress.bytes_total;
        if (sinceProgress.isValid() && sinceProgress.elapsed() < kProgressIntervalMs && !last)
            return;
        sinceProgress.start();
        Q_EMIT loadAdvanced(job, progress.bytes_done, progress.bytes_total);
    };
    listener.on_event = [this](const engine::Event& event) { Q_EMIT eventHappened(event); };

    if (const auto model = m_engine->load(request, listener, either.token()))
        Q_EMIT loaded(job, *model);
    else
        Q_EMIT loadFailed(job, model.error());
}

void EngineWorker::generate(quint64 turn, const engine::Request& request, const std::stop_token& stop)
{
    const EitherStop either(stop, m_shutdown);
    if (!m_sequence) {
        const auto created = m_engine->create_sequence();
        if (!created) {
            Q_EMIT failed(turn, created.error());
            return;
        }
        m_sequence = *created;
    }

    m_pending.clear();
    m_sinceFlush.invalidate();
    m_sinceFrame.invalidate();
    const auto result = m_engine->generate(*m_sequence, request, listenerFor(turn), either.token());
    flush(turn);
    if (result)
        Q_EMIT finished(turn, *result);
    else
        Q_EMIT failed(turn, result.error());
}

void EngineWorker::endConversation()
{
    if (m_sequence)
        m_engine->end_sequence(*m_sequence);
    m_sequence.reset();
}

engine::Listener EngineWorker::listenerFor(quint64 turn)
{
    engine::Listener listener;
    listener.on_prompt = [this, turn](const engine::PromptLedger& ledger) { Q_EMIT promptReady(turn, ledger); };
    listener.on_text = [this, turn](std::string_view text) {
        m_pending += QString::fromUtf8(text.data(), qsizetype(text.size()));
        if (!m_sinceFlush.isValid() || m_sinceFlush.elapsed() >= kFlushIntervalMs)
            flush(turn);
    };
    listener.on_telemetry = [this, turn](const engine::Telemetry& frame) {
        if (m_sinceFrame.isValid() && m_sinceFrame.elapsed() < kFrameIntervalMs)
            return;
        m_sinceFrame.start();
        Q_EMIT telemetryReady(turn, frame);
    };
    listener.on_event = [this](const engine::Event& event) { Q_EMIT eventHappened(event); };
    return listener;
}

void EngineWorker::flush(quint64 turn)
{
    m_sinceFlush.start();
    if (m_pending.isEmpty())
        return;
    Q_EMIT textReady(turn, m_pending);
    m_pending.clear();
}

void EngineWorker::poll()
{
    engine::Listener listener;
    listener.on_event = [this](const engine::Event& event) { Q_EMIT eventHappened(event); };
    m_engine->poll(listener);
}
