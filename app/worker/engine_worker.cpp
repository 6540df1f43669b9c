#include "app/worker/engine_worker.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <list>
#include <new>
#include <ranges>
#include <set>
#include <utility>

namespace {

// 30 changes a second look fluent; more would only cost layouts.
constexpr qint64 kFlushIntervalMs = 33;
// Frames come about 20 times a second; an engine that sends more must not flood the window.
constexpr qint64 kFrameIntervalMs = 40;
constexpr qint64 kProgressIntervalMs = 33;
// Conversations that keep their KV. All share the pages of one cache: when these run out, the engine takes back those
// of the conversation that was used longest ago.
constexpr qsizetype kMostHeld = kMostAnswersAtOnce;

/// Has a token that is stopped when any of several tokens is.
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
    std::list<std::stop_callback<Request>> m_requests;  // a list, since callbacks cannot be moved
};

}  // namespace

/// Holds one of the answers that advance together, and what of its text and numbers has been sent.
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
    bool alone = true;        // no other answer has been made at the same time
    bool read = false;        // its prompt has been read
    QString pending = {};     // text that has not been sent yet
    QElapsedTimer sinceFlush = {};
    QElapsedTimer sinceFrame = {};
    engine::Phase framePhase = engine::Phase::Idle;  // of the newest frame that was sent
};

/// Holds the answers that are being made to one question of a conversation.
struct EngineWorker::Answering {
    const QString conversation;
    const std::vector<AskedAnswer> asked;
    engine::SequenceId sequence = 0;
    std::list<Speaker> speakers = {};
    bool allBegun = false;  // also the answers beside the first
    bool leaves = false;    // the conversation was closed meanwhile, and is ended after its answers

    const Speaker& first() const { return speakers.front(); }
    bool mayBranch() const { return !allBegun && (first().read || first().turn == 0); }
    bool over() const
    {
        return allBegun && std::ranges::none_of(speakers, [](const Speaker& speaker) { return speaker.turn != 0; });
    }
};

EngineWorker::EngineWorker(std::unique_ptr<engine::Engine> engine, std::stop_token shutdown)
    : m_engine(std::move(engine))
    , m_shutdown(std::move(shutdown))
{
    m_engine->on_posted = [this] { QMetaObject::invokeMethod(this, &EngineWorker::poll, Qt::QueuedConnection); };
}

/// Lets running turns end, which have been stopped already, so that their answers are saved.
EngineWorker::~EngineWorker()
{
    endAll();
}

quint64 EngineWorker::post(const engine::Command& command)
{
    return m_engine->post(command);
}

void EngineWorker::load(quint64 job, const engine::LoadRequest& request, const std::stop_token& stop)
{
    endAll();
    const AnyStop any{stop, m_shutdown};
    m_held.clear();  // load() ends all sequences
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
    endAll();
    m_held.clear();  // unload() ends all sequences
    m_versions.clear();
    m_engine->unload();
    Q_EMIT unloaded(job);
}

void EngineWorker::answer(const QString& conversation, const QStringList& path, const std::vector<AskedAnswer>& asked)
{
    while (answering(conversation))
        advance();
    if (!m_answering.empty())
        m_engine->poll(idleListener());  // commands posted so far are not meant for this conversation
    endVersions(conversation, path);
    const auto sequence = sequenceFor(conversation);
    Answering& its = m_answering.emplace_back(Answering{conversation, asked, sequence.value_or(0)});
    for (const AskedAnswer& one : its.asked)
        its.speakers.emplace_back(one, its.speakers.empty(), m_shutdown);
    if (sequence) {
        begin(its.speakers.front(), *sequence);
    } else {
        its.allBegun = true;
        for (const Speaker& speaker : its.speakers)
            fail(speaker, sequence.error());
    }
    stepSoon();
}

/// Queues a step, so that other queued calls wait for one step at most.
void EngineWorker::stepSoon()
{
    if (!m_answering.empty() && !std::exchange(m_stepIsQueued, true))
        QMetaObject::invokeMethod(this, &EngineWorker::step, Qt::QueuedConnection);
}

void EngineWorker::step()
{
    m_stepIsQueued = false;
    if (!m_answering.empty())
        advance();
    stepSoon();
}

void EngineWorker::advance()
{
    for (Answering& its : m_answering)
        if (its.mayBranch())
            beginBeside(its);
    const std::vector<Speaker*> running = speakers();
    if (!running.empty())
        for (const engine::TurnId over : m_engine->step(idleListener()))
            if (const auto one = std::ranges::find(running, over, &Speaker::turn); one != running.end())
                end(**one);
    forgetWhatIsOver();
}

void EngineWorker::forgetWhatIsOver()
{
    QStringList left;
    std::erase_if(m_answering, [&](const Answering& its) {
        if (its.over() && its.leaves)
            left.append(its.conversation);
        return its.over();
    });
    for (const QString& conversation : left)
        endConversation(conversation);
    if (!m_answering.empty())
        return;
    Q_EMIT rested();
    if (std::exchange(m_pollLater, false))
        poll();
}

void EngineWorker::endAll()
{
    while (!m_answering.empty())
        advance();
}

std::vector<EngineWorker::Speaker*> EngineWorker::speakers()
{
    std::vector<Speaker*> running;
    for (Answering& its : m_answering)
        for (Speaker& speaker : its.speakers)
            if (speaker.turn != 0)
                running.push_back(&speaker);
    return running;
}

EngineWorker::Answering* EngineWorker::answering(const QString& conversation)
{
    const auto found = std::ranges::find(m_answering, conversation, &Answering::conversation);
    return found == m_answering.end() ? nullptr : &*found;
}

void EngineWorker::begin(Speaker& speaker, engine::SequenceId sequence)
{
    const auto turn = m_engine->begin(sequence, speaker.asked.request, listenerFor(speaker), speaker.stop.token());
    if (!turn)
        return fail(speaker, turn.error());
    speaker.turn = *turn;
    if (const std::vector<Speaker*> running = speakers(); running.size() > 1)
        for (Speaker* const each : running)
            each->alone = false;
}

/// Begins the other answers of the turn. Each gets a copy of the conversation's sequence, which has read the prompt by
/// now.
void EngineWorker::beginBeside(Answering& its)
{
    its.allBegun = true;
    if (its.speakers.size() > 1)
        m_versions.append({its.conversation, its.first().asked.message, its.sequence});
    for (auto speaker = std::next(its.speakers.begin()); speaker != its.speakers.end(); ++speaker) {
        const auto copy = m_engine->branch(its.sequence, -1);
        if (!copy) {
            fail(*speaker, copy.error());
            continue;
        }
        m_versions.append({its.conversation, speaker->asked.message, *copy});
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
        Q_EMIT finished(speaker.asked.turn, *result, speaker.alone);
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

/// Ends the sequences of answers that were made side by side, except for the one that this turn continues, which
/// becomes the conversation's.
void EngineWorker::endVersions(const QString& conversation, const QStringList& path)
{
    const auto known = std::find_if(m_held.begin(), m_held.end(),
                                    [&](const HeldSequence& one) { return one.conversation == conversation; });
    for (const Version& version : m_versions)
        if (known != m_held.end() && version.conversation == conversation && path.contains(version.message))
            known->sequence = version.sequence;
    m_versions.removeIf([this](const Version& version) {
        if (answering(version.conversation))
            return false;
        const auto holds = [&](const HeldSequence& one) { return one.sequence == version.sequence; };
        if (std::none_of(m_held.cbegin(), m_held.cend(), holds))
            m_engine->end_sequence(version.sequence);
        return true;
    });
}

void EngineWorker::branchConversation(const QString& from, const QString& to)
{
    const auto source = knownSequence(from);
    if (!source)
        return;  // nothing of the conversation is in the cache
    if (const auto copy = m_engine->branch(*source, -1))
        addSequence(to, *copy);
}

void EngineWorker::pin(const QString& conversation, const std::vector<engine::TokenRange>& tokens)
{
    const auto known = std::find_if(m_held.cbegin(), m_held.cend(),
                                    [&](const HeldSequence& one) { return one.conversation == conversation; });
    if (m_engine->loaded() && known != m_held.cend())
        post(engine::SetPins{tokens, known->sequence});
}

void EngineWorker::endConversation(const QString& conversation)
{
    if (Answering* const its = answering(conversation)) {
        its->leaves = true;
        return;
    }
    std::set<engine::SequenceId> sequences;  // a set, since the first of several versions has the conversation's own
    const auto take = [&](const auto& one) {
        const bool its = one.conversation == conversation;
        if (its)
            sequences.insert(one.sequence);
        return its;
    };
    m_held.removeIf(take);
    m_versions.removeIf(take);
    for (const engine::SequenceId sequence : sequences)
        m_engine->end_sequence(sequence);
}

void EngineWorker::countTokens(quint64 job, const QString& text, const std::stop_token& stop,
                               const std::stop_token& inTheWay)
{
    const AnyStop any{stop, inTheWay, m_shutdown};
    std::optional<int> tokens;  // empty: stopped, not countable, or no memory for so much text
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
        addSequence(conversation, *created);
    return created;
}

/// Finds the sequence of a conversation, and makes it the last used one.
std::optional<engine::SequenceId> EngineWorker::knownSequence(const QString& conversation)
{
    if (!m_engine->loaded())
        m_held.clear();  // the engine closed the model by itself
    const auto known = std::find_if(m_held.begin(), m_held.end(),
                                    [&](const HeldSequence& one) { return one.conversation == conversation; });
    if (known == m_held.end())
        return {};
    std::rotate(known, known + 1, m_held.end());
    return m_held.last().sequence;
}

void EngineWorker::addSequence(const QString& conversation, engine::SequenceId sequence)
{
    m_held.append({conversation, sequence});
    const auto idle = [this](const HeldSequence& one) { return !answering(one.conversation); };
    const auto oldest = std::find_if(m_held.begin(), m_held.end() - 1, idle);
    if (m_held.size() <= kMostHeld || oldest == m_held.end() - 1)
        return;
    m_engine->end_sequence(oldest->sequence);
    m_held.erase(oldest);
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
        // The first frame of a phase is always sent, since a short phase may be over before the next frame is due.
        const bool isDue = !speaker.sinceFrame.isValid() || speaker.sinceFrame.elapsed() >= kFrameIntervalMs;
        if (!isDue && frame.phase == speaker.framePhase)
            return;
        speaker.framePhase = frame.phase;
        speaker.sinceFrame.start();
        if (speaker.first)
            Q_EMIT telemetryReady(turn, frame, speaker.alone);
        else
            Q_EMIT telemetryBeside(turn, frame);
    };
    listener.on_event = [this, turn](const engine::Event& event) {
        if (event.kind == engine::Event::Kind::ContextNearlyFull)
            Q_EMIT contextNearlyFull(turn);
        if (event.kind == engine::Event::Kind::KvRestored || event.kind == engine::Event::Kind::KvPrefilled)
            Q_EMIT savedKvUsed(turn, event);
        tell(event, turn);
    };
    return listener;
}

void EngineWorker::tell(const engine::Event& event, quint64 turn)
{
    Q_EMIT eventHappened(event, turn, conversationsOf(event.sequences));
}

QStringList EngineWorker::conversationsOf(const std::vector<engine::SequenceId>& sequences) const
{
    QStringList conversations;
    const auto add = [&](const auto& holder) {
        if (std::ranges::find(sequences, holder.sequence) != sequences.end() &&
            !conversations.contains(holder.conversation))
            conversations.append(holder.conversation);
    };
    for (const HeldSequence& held : m_held)
        add(held);
    for (const Version& version : m_versions)
        add(version);
    return conversations;
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
    listener.on_event = [this](const engine::Event& event) { tell(event, 0); };
    listener.on_telemetry = [this](const engine::Telemetry& frame) { Q_EMIT placementReady(frame); };
    return listener;
}

/// Carries out posted commands. While answers are made, their steps do that.
void EngineWorker::poll()
{
    if (!m_answering.empty()) {
        m_pollLater = true;
        return;
    }
    m_engine->poll(idleListener());
}

#include "moc_engine_worker.cpp"
