#include "app/pressure/flight_recorder.h"

#include "app/pressure/placement_event_model.h"
#include "app/store/conversation_store.h"
#include "app/system/background.h"

#include <algorithm>
#include <memory>
#include <utility>

FlightRecorder::FlightRecorder(QObject* parent)
    : QObject(parent)
{
    m_flights[m_shown];
}

FlightRecorder::~FlightRecorder()
{
    for (const auto& entry : m_flights)
        keep(entry.first);
}

void FlightRecorder::setStore(ConversationStore* store)
{
    m_store = store;
}

bool FlightRecorder::shownIsEarlier() const
{
    const Flight& flight = m_flights.at(m_shown);
    return !flight.live && flight.recording.history.earlierSeconds() && !shownIsOfAnotherModel();
}

/// Finds a conversation's flight in memory, else in the store.
FlightRecorder::Flight& FlightRecorder::flightOf(const QString& conversation)
{
    const auto [entry, isNew] = m_flights.try_emplace(conversation);
    const QByteArray kept = isNew && m_store ? m_store->recording(conversation) : QByteArray();
    if (!kept.isEmpty())
        entry->second.reading = read(conversation, kept);
    return entry->second;
}

/// Reads a recording on a pool thread: that of a long conversation takes longer than a frame may. Returns the job's
/// number.
quint64 FlightRecorder::read(const QString& conversation, const QByteArray& kept)
{
    const auto come = [this, conversation, job = ++m_jobs](std::optional<Recording> recording) {
        onRead(conversation, job, recording);
    };
    inBackground(
        this, [kept] { return Recording::parse(kept); }, come, [come] { come(std::nullopt); });
    return m_jobs;
}

void FlightRecorder::onRead(const QString& conversation, quint64 job, std::optional<Recording>& recording)
{
    const auto found = m_flights.find(conversation);
    if (found == m_flights.end() || found->second.reading != job)
        return;  // the conversation was left meanwhile, and perhaps is being read anew
    Flight& flight = found->second;
    flight.reading = 0;
    if (recording) {
        flight.recording = std::move(*recording);
        flight.recording.history.pickUp();
    } else {
        Q_EMIT failed(tr("What was measured of this conversation earlier cannot be read."));
    }
    for (const auto& act : std::exchange(flight.meanwhile, {}))
        act(flight);
    if (conversation == m_shown)
        Q_EMIT shownChanged();
    else
        leave(conversation);
}

void FlightRecorder::whenRead(Flight& flight, std::function<void(Flight&)> act)
{
    if (flight.reading == 0)
        act(flight);
    else
        flight.meanwhile.push_back(std::move(act));
}

/// Returns the flight that a turn's numbers belong to; null: none any more.
FlightRecorder::Flight* FlightRecorder::flightOf(quint64 turn)
{
    if (!m_computed.isEmpty() && (turn == 0 || turn == m_turn))
        return &flightOf(m_computed);
    if (const auto other = m_running.find(turn); other != m_running.end())
        return &flightOf(other->second);
    Flight& shown = flightOf(m_shown);
    // Where the bytes lie after a load does not belong into a recording from earlier.
    const bool fits = turn == 0 ? shown.reading == 0 && !shown.recording.history.earlierSeconds() : m_turn == 0;
    return fits ? &shown : nullptr;
}

const PlacementMove* FlightRecorder::lastMove(engine::TokenRange tokens, int firstLayer, int lastLayer) const
{
    const QList<PlacementMove>& moves = m_flights.at(m_computed.isEmpty() ? m_shown : m_computed).recording.moves;
    const auto concerns = [&](const engine::Event& event) {
        using Kind = engine::Event::Kind;
        if (event.kind == Kind::LayerMove || event.kind == Kind::ExpertsMove)
            return event.layer >= firstLayer && event.layer <= lastLayer;
        const bool moves = event.kind == Kind::Offload || event.kind == Kind::Fetch;
        return event.kind == Kind::DeviceLost || event.kind == Kind::KvRewritten || event.kind == Kind::DeviceChanged ||
               (moves && event.tokens.first < tokens.last && event.tokens.last > tokens.first);
    };
    const auto found = std::find_if(moves.rbegin(), moves.rend(), [&](const PlacementMove& move) {
        return move.ms <= m_modelSinceMs || concerns(move.event);
    });
    return found == moves.rend() || found->ms <= m_modelSinceMs ? nullptr : &*found;
}

void FlightRecorder::show(const QString& conversation)
{
    if (conversation == m_shown)
        return;
    flightOf(conversation);
    const QString before = std::exchange(m_shown, conversation);
    for (const auto& [turn, its] : m_running)
        if (its == conversation && turn != m_turn) {
            follow(turn);
            break;
        }
    leave(before);
    Q_EMIT shownChanged();
}

void FlightRecorder::begin(quint64 turn, const QString& conversation)
{
    m_running[turn] = conversation;
    flightOf(conversation);
    if (conversation == m_shown || m_running.count(m_turn) == 0)
        follow(turn);
}

void FlightRecorder::follow(quint64 turn)
{
    m_turn = turn;
    const QString before = std::exchange(m_computed, m_running.at(turn));
    if (!before.isEmpty() && before != m_computed)
        leave(before);
    Q_EMIT followedChanged();
}

/// Follows another running turn where the followed one has ended.
void FlightRecorder::followAnother()
{
    if (m_running.count(m_turn) == 0 && !m_running.empty())
        follow(m_running.begin()->first);
}

void FlightRecorder::end(quint64 turn)
{
    const auto ended = m_running.find(turn);
    if (ended == m_running.end())
        return;
    const QString conversation = ended->second;
    m_running.erase(ended);
    followAnother();
    leave(conversation);
}

void FlightRecorder::place(const QString& conversation, const QList<MessageTokens>& places)
{
    if (const auto flight = m_flights.find(conversation); flight != m_flights.end())
        flight->second.places = places;
}

void FlightRecorder::forget(const QString& conversation)
{
    std::erase_if(m_running, [&](const auto& entry) { return entry.second == conversation; });
    const bool computed = m_computed == conversation;
    if (computed)
        m_computed.clear();
    followAnother();
    if (m_shown != conversation)
        m_flights.erase(conversation);
    if (computed && m_computed.isEmpty())
        Q_EMIT computedForgotten(m_turn);
}

/// Saves the recording of a conversation that is no longer shown or no longer computed, and forgets it when it is
/// neither.
void FlightRecorder::leave(const QString& conversation)
{
    keep(conversation);
    const auto found = m_flights.find(conversation);
    const bool waits = found != m_flights.end() && !found->second.meanwhile.empty();  // it is left again then
    const bool runs = std::any_of(m_running.begin(), m_running.end(),
                                  [&](const auto& entry) { return entry.second == conversation; });
    if (conversation != m_shown && conversation != m_computed && !waits && !runs)
        m_flights.erase(conversation);
}

void FlightRecorder::keep(const QString& conversation)
{
    const auto found = m_flights.find(conversation);
    if (!m_store || conversation.isEmpty() || found == m_flights.end())
        return;
    Flight& flight = found->second;
    if (!flight.meanwhile.empty())
        flight.meanwhile.emplace_back([this, conversation](Flight&) { keep(conversation); });
    if (!std::exchange(flight.changed, false))
        return;
    m_store->saveRecording(conversation, [kept = flight.recording.kept()] { return kept.toJson(); });
}

void FlightRecorder::onModelReady(const QString& name, const QString& file)
{
    m_model = name;
    m_modelFile = file;
    m_modelOpen = true;
    takeModel(m_ofModel);
}

bool FlightRecorder::isOfOpenModel(const Recording& recording) const
{
    if (recording.model.isEmpty())
        return true;  // nothing was measured
    // A recording of an older version does not name the file.
    return recording.modelFile.isEmpty() ? recording.model == m_model : recording.modelFile == m_modelFile;
}

/// Makes the recording the open model's; where another model answered before, a new series begins.
void FlightRecorder::takeModel(Recording& recording) const
{
    if (!isOfOpenModel(recording) && !recording.history.runs().empty()) {
        recording.history.beginModel();
        recording.answers.clear();
    }
    recording.model = m_model;
    recording.modelFile = m_modelFile;
}

void FlightRecorder::note(Flight& flight, quint64 turn, const engine::Telemetry& frame)
{
    Recording& recording = flight.recording;
    recording.device = QString::fromStdString(frame.device ? frame.device->id : std::string());
    recording.made = QDateTime::currentDateTimeUtc();
    recording.contextLimit = frame.context_limit;
    recording.spillTokens = m_spillTokens;
    flight.live = flight.live || turn != 0;
    flight.changed = flight.live;
}

void FlightRecorder::add(quint64 turn, const engine::Telemetry& frame)
{
    if (turn == 0 && m_computed.isEmpty()) {
        m_ofModel.history.add(0, frame);
        m_ofModel.device = QString::fromStdString(frame.device ? frame.device->id : std::string());
        m_ofModel.contextLimit = frame.context_limit;
    }
    Flight* const flight = flightOf(turn);
    if (!flight)
        return;
    whenRead(*flight, [this, turn, frame](Flight& whole) {
        takeModel(whole.recording);
        whole.recording.history.add(turn, frame);
        note(whole, turn, frame);
    });
}

/// Adds an event to each conversation whose tokens moved. The computed conversation gets it in any case, and the shown
/// one where the event names no tokens.
void FlightRecorder::add(const engine::Event& event, const QStringList& conversations)
{
    if (!PlacementEventModel::kindOf(event.kind))
        return;
    const QString& computed = m_computed.isEmpty() ? m_shown : m_computed;
    flightOf(computed);
    for (auto& [conversation, flight] : m_flights) {
        const bool its = conversations.contains(conversation);
        const bool beside = conversation == computed || (conversation == m_shown && event.tokens.count() == 0);
        if (!its && !beside)
            continue;
        engine::Event seen = event;
        if (!its && !conversations.isEmpty())
            seen.tokens = {};
        take(flight, placementMove(seen, flight.places));
    }
}

void FlightRecorder::take(Flight& flight, const PlacementMove& move)
{
    whenRead(flight, [this, move](Flight& whole) {
        whole.recording.add(move);
        whole.recording.history.add(move.event);
        whole.changed = whole.live;
        if (&whole == &m_flights.at(m_shown))
            Q_EMIT moved(move);
    });
}

void FlightRecorder::finish(quint64 turn, const engine::Telemetry& last)
{
    Flight* const flight = flightOf(turn);
    if (!flight)
        return;
    whenRead(*flight, [this, turn, last](Flight& whole) {
        takeModel(whole.recording);
        whole.recording.history.finish(turn, last);
        whole.recording.add(last);
        note(whole, turn, last);
    });
    fail(turn);
}

void FlightRecorder::fail(quint64 turn)
{
    if (turn == m_turn)
        keep(m_computed);
    end(turn);
}

void FlightRecorder::onModelGone()
{
    for (const auto& entry : m_flights)
        keep(entry.first);
    m_computed.clear();
    m_running.clear();
    m_modelOpen = false;
    m_ofModel = {};
    m_modelSinceMs = QDateTime::currentMSecsSinceEpoch();
    m_spillTokens.reset();
    std::erase_if(m_flights,
                  [this](const auto& entry) { return entry.first != m_shown && entry.second.meanwhile.empty(); });
    whenRead(m_flights[m_shown], [nobodys = m_shown.isEmpty()](Flight& shown) {
        if (nobodys || (!shown.live && !shown.recording.history.earlierSeconds()))
            shown = {};  // only numbers of the model are in it
        else
            shown.recording.history.pickUp();
        shown.live = false;
        shown.places.clear();
    });
    Q_EMIT shownChanged();
}

#include "moc_flight_recorder.cpp"
