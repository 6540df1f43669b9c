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

/// One answer of those that advance together, and how far what it says has been told.
struct EngineWorker::Speaker {
    Speaker(const AskedAnswer& its, bool isFirst, const std::stop_token& shutdown)
        : asked(its)
        , first(isFirst)
        , stop{its.stop, shutdown}
    {
    }

    const AskedAnswer& asked;
    const bool first;
    const AnyStop stop;
    engine::TurnId turn = 0;  // 0: it has not begun, or is over
    bool read = false;        // its prompt is
    QString pending = {};     // text that has not been sent yet
    QElapsedTimer sinceFlush = {};
    QElapsedTimer sinceFrame = {};
    engine::Phase framePhase = engine::Phase::Idle;  // of the newest one that was told
};

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
    m_versions.clear();

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
    m_versions.clear();
    m_engine->unload();
    Q_EMIT unloaded(job);
}

void EngineWorker::answer(const QString& conversation, const QStringList& path, const std::vector<AskedAnswer>& asked)
{
    endVersions(conversation, path);
    const auto sequence = sequenceFor(conversation);
    std::list<Speaker> speakers;
    for (const AskedAnswer& one : asked)
        speakers.emplace_back(one, speakers.empty(), m_shutdown);
    if (!sequence) {
        for (const Speaker& speaker : speakers)
            fail(speaker, sequence.error());
        Q_EMIT rested();
        return;
    }
    begin(speakers.front(), *sequence);

    const Speaker& first = speakers.front();
    const engine::Listener ofFirst = listenerFor(speakers.front()), ofNone = idleListener();
    bool alone = true;
    while (true) {
        if (alone && (first.read || first.turn == 0)) {
            alone = false;
            beginBeside(speakers, *sequence);
        }
        const auto runs = [](const Speaker& speaker) { return speaker.turn != 0; };
        if (std::ranges::none_of(speakers, runs))
            break;
        for (const engine::TurnId over : m_engine->step(first.turn != 0 ? ofFirst : ofNone))
            if (const auto one = std::ranges::find(speakers, over, &Speaker::turn); one != speakers.end())
                end(*one);
    }
    Q_EMIT rested();
}

void EngineWorker::begin(Speaker& speaker, engine::SequenceId sequence)
{
    const auto turn = m_engine->begin(sequence, speaker.asked.request, listenerFor(speaker), speaker.stop.token());
    if (turn)
        speaker.turn = *turn;
    else
        fail(speaker, turn.error());
}

/// Each has a copy of the conversation, which holds the prompt by now.
void EngineWorker::beginBeside(std::list<Speaker>& speakers, engine::SequenceId sequence)
{
    if (speakers.size() > 1)
        m_versions.append({speakers.front().asked.message, sequence});
    for (auto speaker = std::next(speakers.begin()); speaker != speakers.end(); ++speaker) {
        const auto copy = m_engine->branch(sequence, -1);
        if (!copy) {
            fail(*speaker, copy.error());
            continue;
        }
        m_versions.append({speaker->asked.message, *copy});
        begin(*speaker, *copy);
    }
}

void EngineWorker::end(Speaker& speaker)
{
    const auto result = m_engine->end(std::exchange(speaker.turn, 0));
    flush(speaker);
    if (!result)
        fail(speaker, result.error());
    else if (speaker.first)
        Q_EMIT finished(speaker.asked.turn, *result);
    else
        Q_EMIT finishedBeside(speaker.asked.turn, *result);
}

void EngineWorker::fail(const Speaker& speaker, const engine::Error& error)
{
    if (speaker.first)
        Q_EMIT failed(speaker.asked.turn, error);
    else
        Q_EMIT failedBeside(speaker.asked.turn, error);
}

/// What was made beside each other leaves the engine, but for the version that this turn goes on with: that is the
/// conversation's from now on.
void EngineWorker::endVersions(const QString& conversation, const QStringList& path)
{
    const auto place = std::find_if(m_places.begin(), m_places.end(),
                                    [&](const Place& one) { return one.conversation == conversation; });
    for (const Version& version : m_versions)
        if (place != m_places.end() && path.contains(version.message))
            place->sequence = version.sequence;
    for (const Version& version : std::exchange(m_versions, {})) {
        const auto holds = [&](const Place& one) { return one.sequence == version.sequence; };
        if (std::none_of(m_places.cbegin(), m_places.cend(), holds))
            m_engine->end_sequence(version.sequence);
    }
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
    endVersions({}, {});
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

engine::Listener EngineWorker::listenerFor(Speaker& speaker)
{
    const quint64 turn = speaker.asked.turn;
    engine::Listener listener;
    listener.on_prompt = [this, turn](const engine::PromptLedger& ledger) { Q_EMIT promptReady(turn, ledger); };
    listener.on_text = [this, &speaker](std::string_view text) {
        speaker.read = true;
        speaker.pending += QString::fromUtf8(text.data(), qsizetype(text.size()));
        if (!speaker.sinceFlush.isValid() || speaker.sinceFlush.elapsed() >= kFlushIntervalMs)
            flush(speaker);
    };
    listener.on_telemetry = [this, turn, &speaker](const engine::Telemetry& frame) {
        speaker.read = speaker.read || frame.phase == engine::Phase::Decode;
        if (!speaker.first)
            return;
        // A phase that is over before the next frame is due must be seen, too: a short answer has one frame of each.
        const bool isDue = !speaker.sinceFrame.isValid() || speaker.sinceFrame.elapsed() >= kFrameIntervalMs;
        if (!isDue && frame.phase == speaker.framePhase)
            return;
        speaker.framePhase = frame.phase;
        speaker.sinceFrame.start();
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

void EngineWorker::flush(Speaker& speaker)
{
    speaker.sinceFlush.start();
    if (!speaker.pending.isEmpty())
        Q_EMIT textReady(speaker.asked.turn, std::exchange(speaker.pending, {}));
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
