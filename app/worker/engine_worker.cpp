#include "app/worker/engine_worker.h"

#include <algorithm>
#include <initializer_list>
#include <list>
#include <new>
#include <utility>

namespace {

// 30 changes a second look fluent; more would only cost layouts.
constexpr qint64 kFlushIntervalMs = 33;
// Frames come about 20 times a second; an engine that sends more must not flood the window.
constexpr qint64 kFrameIntervalMs = 40;
constexpr qint64 kProgressIntervalMs = 33;
// Conversations that keep their KV. Their pages are shared anyway: when those run out, the engine takes them back from
// whoever waits longest.
constexpr qsizetype kMostPlaces = 4;

/// Stops when any of some tokens does.
class AnyStop
{
public:
    AnyStop(std::initializer_list<std::stop_token> tokens)
    {
        for (const std::stop_token& token : tokens)
            m_requests.emplace_back(token, Request{&m_source});
    }
    std::stop_token token() const { return m_source.get_token(); }

private:
    struct Request {
        std::stop_source* source;
        void operator()() const { source->request_stop(); }
    };
    std::stop_source m_source;
    std::list<std::stop_callback<Request>> m_requests;  // which cannot be moved
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
    const AnyStop any{stop, m_shutdown};
    m_places.clear();  // load() ends all of them

    QElapsedTimer sinceProgress;
    engine::Listener listener = idleListener();
    listener.on_load = [this, job, &sinceProgress](const engine::LoadProgress& progress) {
        const bool last = progress.bytes_done == progress.bytes_total;
        if (sinceProgress.isValid() && sinceProgress.elapsed() < kProgressIntervalMs && !last)
            return;
        sinceProgress.start();
        Q_EMIT loadAdvanced(job, progress.bytes_done, progress.bytes_total);
    };

    if (const auto model = m_engine->load(request, listener, any.token()))
        Q_EMIT loaded(job, *model);
    else
        Q_EMIT loadFailed(job, model.error());
}

void EngineWorker::unload(quint64 job)
{
    m_places.clear();  // unload() ends all of them
    m_engine->unload();
    Q_EMIT unloaded(job);
}

void EngineWorker::generate(quint64 turn, const QString& conversation, const engine::Request& request,
                            const std::stop_token& stop)
{
    const AnyStop any{stop, m_shutdown};
    const auto sequence = sequenceFor(conversation);
    if (!sequence) {
        Q_EMIT failed(turn, sequence.error());
        return;
    }

    m_pending.clear();
    m_sinceFlush.invalidate();
    m_sinceFrame.invalidate();
    const auto result = m_engine->generate(*sequence, request, listenerFor(turn), any.token());
    flush(turn);
    if (result)
        Q_EMIT finished(turn, *result);
    else
        Q_EMIT failed(turn, result.error());
}

void EngineWorker::branchConversation(const QString& from, const QString& to)
{
    const auto source = knownSequence(from);
    if (!source)
        return;  // nothing of it is in the cache
    if (const auto copy = m_engine->branch(*source, -1))
        addPlace(to, *copy);
}

void EngineWorker::endConversation(const QString& conversation)
{
    m_places.removeIf([&](const Place& place) {
        if (place.conversation != conversation)
            return false;
        m_engine->end_sequence(place.sequence);
        return true;
    });
}

void EngineWorker::countTokens(quint64 job, const QString& text, const std::stop_token& stop,
                               const std::stop_token& inTheWay)
{
    const AnyStop any{stop, inTheWay, m_shutdown};
    std::optional<int> tokens;  // not known where it is not wanted any more, or there is no memory for so much text
    try {
        if (!any.token().stop_requested())
            if (const auto counted = m_engine->count_tokens(text.toStdString(), any.token()))
                tokens = *counted;
    } catch (const std::bad_alloc&) {
        tokens.reset();
    }
    Q_EMIT tokensCounted(job, tokens);
}

void EngineWorker::countPrompt(quint64 job, const engine::Request& request, const std::stop_token& stop,
                               const std::stop_token& inTheWay)
{
    const AnyStop any{stop, inTheWay, m_shutdown};
    const auto ledger = m_engine->count_prompt(request, any.token());
    Q_EMIT promptCounted(job, ledger ? std::optional<engine::PromptLedger>(*ledger) : std::nullopt);
}

engine::Result<engine::SequenceId> EngineWorker::sequenceFor(const QString& conversation)
{
    if (const auto known = knownSequence(conversation))
        return *known;
    auto created = m_engine->create_sequence();
    if (created)
        addPlace(conversation, *created);
    return created;
}

/// Finds the sequence of a conversation, whose place is then the one that was used last.
std::optional<engine::SequenceId> EngineWorker::knownSequence(const QString& conversation)
{
    if (!m_engine->loaded())
        m_places.clear();  // it closed the model by itself
    const auto known = std::find_if(m_places.begin(), m_places.end(),
                                    [&](const Place& place) { return place.conversation == conversation; });
    if (known == m_places.end())
        return {};
    std::rotate(known, known + 1, m_places.end());
    return m_places.last().sequence;
}

void EngineWorker::addPlace(const QString& conversation, engine::SequenceId sequence)
{
    m_places.append({conversation, sequence});
    if (m_places.size() > kMostPlaces)
        m_engine->end_sequence(m_places.takeFirst().sequence);
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
        // A phase that is over before the next frame is due must be seen, too: a short answer has one frame of each.
        const bool isDue = !m_sinceFrame.isValid() || m_sinceFrame.elapsed() >= kFrameIntervalMs;
        if (!isDue && frame.phase == m_framePhase)
            return;
        m_framePhase = frame.phase;
        m_sinceFrame.start();
        Q_EMIT telemetryReady(turn, frame);
    };
    listener.on_event = [this, turn](const engine::Event& event) {
        if (event.kind == engine::Event::Kind::ContextNearlyFull)
            Q_EMIT contextNearlyFull(turn);
        if (event.kind == engine::Event::Kind::KvRestored || event.kind == engine::Event::Kind::KvPrefilled)
            Q_EMIT savedKvUsed(turn, event);
        Q_EMIT eventHappened(event);
    };
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

engine::Listener EngineWorker::idleListener()
{
    engine::Listener listener;
    listener.on_event = [this](const engine::Event& event) { Q_EMIT eventHappened(event); };
    listener.on_telemetry = [this](const engine::Telemetry& frame) { Q_EMIT placementReady(frame); };
    return listener;
}

void EngineWorker::poll()
{
    m_engine->poll(idleListener());
}
