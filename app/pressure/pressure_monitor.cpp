#include "app/pressure/pressure_monitor.h"

#include "app/catalogue/model_facts.h"
#include "app/system/background.h"
#include "app/system/chosen_path.h"

#include <QFile>
#include <QSaveFile>

#include <memory>
#include <utility>

namespace {

// Numbers and lines change only as often as the eye can follow: drawing a chart takes some milliseconds.
constexpr int kTellMs = 100;

PressureHistory::Sample lastSample(const PressureHistory& history)
{
    const Ring<PressureHistory::Sample>& samples = history.samples();
    return samples.isEmpty() ? PressureHistory::Sample() : samples.last();
}

}  // namespace

PressureMonitor::PressureMonitor(QObject* parent)
    : QObject(parent)
{
    m_tell.setSingleShot(true);
    m_tell.setInterval(kTellMs);
    connect(&m_tell, &QTimer::timeout, this, &PressureMonitor::changed);
    connect(&m_recorder, &FlightRecorder::shownChanged, this, [this] {
        if (!m_replayed)
            showOther();
    });
    connect(&m_recorder, &FlightRecorder::followedChanged, this, &PressureMonitor::showFollowed);
    connect(&m_recorder, &FlightRecorder::computedForgotten, this, [this](quint64 turn) {
        m_frame = m_thrownAway.throwAway(turn, m_frame);
        m_answering = false;
        tellSoon();
    });
    connect(&m_recorder, &FlightRecorder::failed, this, &PressureMonitor::setTrouble);
}

bool PressureMonitor::severalModels() const
{
    return history().firstRun() > 0 || history().modelSince() > 0 ||
           (!m_replayed && m_recorder.shownIsOfAnotherModel());
}

/// Says whether the model's KV is shown. That of another conversation is, while that one is answered, or if an answer
/// of the shown one was ever computed.
bool PressureMonitor::showsKv() const
{
    return !ofAnother() || m_answering || !m_recorder.shownIsBlank();
}

void PressureMonitor::showOther()
{
    Q_EMIT modelChanged();
    Q_EMIT answersChanged();
    Q_EMIT changed();
}

void PressureMonitor::dismissTrouble()
{
    setTrouble({});
}

void PressureMonitor::setTrouble(const QString& sentence)
{
    if (m_trouble == sentence)
        return;
    m_trouble = sentence;
    Q_EMIT troubleChanged();
}

// Returns what the device's memory holds now, also while an earlier recording is shown; without a model what was
// recorded last.
MemoryReading PressureMonitor::device() const
{
    return m_hasModel && !m_replayed ? MemoryReading::ofDevice(m_frame) : lastSample(history()).device;
}

MemoryReading PressureMonitor::host() const
{
    return m_hasModel && !m_replayed ? MemoryReading::ofHost(m_frame) : lastSample(history()).host;
}

int PressureMonitor::contextTokens() const
{
    return ofNow() ? m_frame.context_tokens : lastSample(history()).contextTokens;
}

int PressureMonitor::contextLimit() const
{
    return m_hasModel && !m_replayed ? m_frame.context_limit : recording().contextLimit;
}

QVariant PressureMonitor::recordedSpill() const
{
    const bool planned = m_hasModel && !m_replayed;
    return planned || !recording().spillTokens ? QVariant() : QVariant(*recording().spillTokens);
}

QString PressureMonitor::saveRecording(const QUrl& file) const
{
    const QString path = chosenPath(file);
    QSaveFile out(path);
    if (out.open(QIODevice::WriteOnly) && out.write(m_recorder.shown().toJson()) >= 0 && out.commit())
        return {};
    return tr("The recording could not be written to “%1”: %2.").arg(path, out.errorString());
}

void PressureMonitor::openRecording(const QUrl& file)
{
    const QString path = chosenPath(file);
    struct Opened {
        std::optional<Recording> recording;
        QString refusal;
    };
    const auto open = [path]() -> Opened {
        QFile in(path);
        if (!in.open(QIODevice::ReadOnly))
            return {{}, tr("“%1” cannot be read: %2.").arg(path, in.errorString())};
        auto recording = Recording::parse(in.read(Recording::kMostBytes + 1));
        const QString refusal = recording ? QString() : tr("“%1” is not a recording of Spillway.").arg(path);
        return {std::move(recording), refusal};
    };
    const auto show = [this, job = ++m_openJob](Opened opened) {
        if (job != m_openJob)
            return;
        setTrouble(opened.refusal);
        if (!opened.recording)
            return;
        m_replayed = std::move(opened.recording);
        showOther();
    };
    inBackground(this, open, show, [show, path] {
        show({{}, tr("“%1” cannot be read: %2.").arg(path, tr("there is not enough memory"))});
    });
}

void PressureMonitor::leaveRecording()
{
    ++m_openJob;
    m_replayed.reset();
    showOther();
}

QString PressureMonitor::deviceName() const
{
    const QString now = m_frame.device ? QString::fromStdString(m_frame.device->id) : QString();
    const QString id = !m_hasModel || m_replayed ? recording().device : now;
    return id == QLatin1String("emulated") ? tr("emulated") : id;
}

/// Returns a number of the answer that runs or ended last; where a recording from earlier is shown, of its last answer.
QVariant PressureMonitor::ofAnswer(std::optional<double> Recording::Answer::*number,
                                   const std::optional<double>& now) const
{
    const QList<Recording::Answer>& answers = recording().answers;
    const std::optional<double> value = ofNow() ? now : answers.isEmpty() ? std::nullopt : answers.last().*number;
    return value ? QVariant(*value) : QVariant();
}

QVariant PressureMonitor::tokensPerSecond() const
{
    return ofAnswer(&Recording::Answer::decodeTokensPerSecond, m_frame.decode_tokens_per_s);
}

QVariant PressureMonitor::prefillTokensPerSecond() const
{
    return ofAnswer(&Recording::Answer::prefillTokensPerSecond, m_frame.prefill_tokens_per_s);
}

QVariant PressureMonitor::ttftMs() const
{
    return ofAnswer(&Recording::Answer::ttftMs, m_frame.ttft_ms);
}

QVariant PressureMonitor::tpotMeanMs() const
{
    return ofAnswer(&Recording::Answer::tpotMeanMs, m_frame.tpot ? std::optional(m_frame.tpot->mean_ms) : std::nullopt);
}

QVariant PressureMonitor::tpotP50Ms() const
{
    return ofAnswer(&Recording::Answer::tpotP50Ms, m_frame.tpot ? std::optional(m_frame.tpot->p50_ms) : std::nullopt);
}

QVariant PressureMonitor::tpotP99Ms() const
{
    return ofAnswer(&Recording::Answer::tpotP99Ms, m_frame.tpot ? std::optional(m_frame.tpot->p99_ms) : std::nullopt);
}

QList<double> PressureMonitor::ofAnswers(std::optional<double> Recording::Answer::*number) const
{
    QList<double> known;
    for (const Recording::Answer& answer : recording().answers)
        if (answer.*number)
            known.append(*(answer.*number));
    return known;
}

QList<double> PressureMonitor::ttftHistory() const
{
    return ofAnswers(&Recording::Answer::ttftMs);
}

QList<double> PressureMonitor::tpotHistory() const
{
    return ofAnswers(&Recording::Answer::tpotMeanMs);
}

QList<double> PressureMonitor::prefillHistory() const
{
    return ofAnswers(&Recording::Answer::prefillTokensPerSecond);
}

void PressureMonitor::onFrame(quint64 turn, const engine::Telemetry& frame)
{
    if (m_recorder.followsAnother(turn)) {
        m_beside[turn] = frame;
        m_recorder.add(turn, frame);
        return;
    }
    m_answering = true;
    take(turn, m_thrownAway.shown(turn, frame, m_recorder.runs(turn)));
}

/// Shows what is known of the followed turn already, before its next frame comes.
void PressureMonitor::showFollowed()
{
    m_pipeline.endTurn();
    if (const auto known = m_beside.constFind(m_recorder.followed()); known != m_beside.constEnd()) {
        m_answering = true;
        m_frame = *known;
        m_beside.erase(known);
    }
    tellSoon();
}

void PressureMonitor::onFailed(quint64 turn)
{
    m_beside.remove(turn);
    m_answering = m_answering && m_recorder.followsAnother(turn);
    if (!m_recorder.followsAnother(turn))
        m_pipeline.endTurn();
    m_recorder.fail(turn);
    tellSoon();
}

void PressureMonitor::onPlacement(const engine::Telemetry& frame)
{
    // The frame belongs to no turn: it says where bytes lie now, and the last answer's numbers are kept.
    engine::Telemetry known = frame;
    known.ttft_ms = m_frame.ttft_ms;
    known.tpot = m_frame.tpot;
    known.prefill_tokens_per_s = m_frame.prefill_tokens_per_s;
    known.decode_tokens_per_s = m_frame.decode_tokens_per_s;
    if (m_frame.sequence != 0 && frame.sequence != m_frame.sequence) {  // another conversation's, answered beside it
        known.sequence = m_frame.sequence;
        known.context_tokens = m_frame.context_tokens;
        known.kv_map.reset();
    }
    take(0, m_thrownAway.shown(0, known, false));
}

void PressureMonitor::take(quint64 turn, const engine::Telemetry& frame)
{
    m_frame = frame;
    m_recorder.add(turn, frame);
    m_pipeline.add(frame);
    tellSoon();
}

void PressureMonitor::onLoadAdvanced(qint64 bytesDone)
{
    if (m_pipeline.addLoaded(bytesDone))
        tellSoon();
}

void PressureMonitor::onEvent(const engine::Event& event, const QStringList& conversations)
{
    m_recorder.add(event, conversations);
    tellSoon();
}

void PressureMonitor::onFinished(quint64 turn, const engine::Turn& result)
{
    m_beside.remove(turn);
    if (!m_recorder.followsAnother(turn)) {
        m_answering = false;
        m_frame = m_thrownAway.shown(turn, result.telemetry, m_recorder.runs(turn));
        m_pipeline.endTurn();
    }
    m_recorder.finish(turn, result.telemetry);
    tellSoon();
    Q_EMIT answersChanged();
}

void PressureMonitor::onModelReady(const engine::ModelInfo& model)
{
    // The engine's own first frame may have come before.
    m_hasModel = true;
    m_recorder.onModelReady(ModelFacts(model).name, QString::fromStdU16String(model.path.filename().u16string()));
    m_pipeline.beginModel(model.experts == 0);
    m_frame.context_limit = model.context_in_use;
    showOther();
}

void PressureMonitor::onModelGone()
{
    m_hasModel = m_answering = false;
    m_thrownAway.clear();
    m_frame = {};
    m_beside.clear();
    m_pipeline.endModel();
    m_recorder.onModelGone();
    showOther();
}

void PressureMonitor::tellSoon()
{
    if (!m_tell.isActive())
        m_tell.start();
}

#include "moc_pressure_monitor.cpp"
