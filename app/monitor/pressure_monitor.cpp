#include "app/monitor/pressure_monitor.h"

#include <QFile>
#include <QSaveFile>

#include <utility>

namespace {

// As often as the eye follows numbers and lines; a picture of a chart costs some milliseconds.
constexpr int kTellMs = 100;
// Long enough that a rate is one of several tokens.
constexpr std::int64_t kFlowUs = 300'000;
constexpr qint64 kLoadMs = 100;

QVariant orUndefined(const std::optional<double>& value)
{
    return value ? QVariant(*value) : QVariant();
}

void keep(QList<double>& values, const std::optional<double>& value)
{
    if (!value)
        return;
    values.append(*value);
    if (values.size() > PressureMonitor::kMostAnswers)
        values.removeFirst();
}

}  // namespace

PressureMonitor::PressureMonitor(QObject* parent)
    : QObject(parent)
{
    m_tell.setSingleShot(true);
    m_tell.setInterval(kTellMs);
    connect(&m_tell, &QTimer::timeout, this, &PressureMonitor::changed);
}

PressureHistory::Sample PressureMonitor::lastReplayed() const
{
    const Ring<PressureHistory::Sample>& samples = m_replayed->history.samples();
    return samples.isEmpty() ? PressureHistory::Sample() : samples.last();
}

MemoryReading PressureMonitor::device() const
{
    return m_replayed ? lastReplayed().device : MemoryReading::ofDevice(m_frame);
}

MemoryReading PressureMonitor::host() const
{
    return m_replayed ? lastReplayed().host : MemoryReading::ofHost(m_frame);
}

QString PressureMonitor::saveRecording(const QUrl& file) const
{
    const Recording recording{m_modelName, QString::fromStdString(m_frame.device ? m_frame.device->id : std::string()),
                              QDateTime::currentDateTimeUtc(), m_frame.context_limit, m_history};
    QSaveFile out(file.toLocalFile());
    if (out.open(QIODevice::WriteOnly) && out.write(recording.toJson()) >= 0 && out.commit())
        return {};
    return tr("The recording could not be written to “%1”: %2.").arg(file.toLocalFile(), out.errorString());
}

QString PressureMonitor::openRecording(const QUrl& file)
{
    QFile in(file.toLocalFile());
    if (!in.open(QIODevice::ReadOnly))
        return tr("“%1” cannot be read: %2.").arg(file.toLocalFile(), in.errorString());
    auto recording = Recording::parse(in.read(Recording::kMostBytes + 1));
    if (!recording)
        return tr("“%1” is not a recording of Spillway.").arg(file.toLocalFile());
    m_replayed = std::move(recording);
    Q_EMIT modelChanged();
    Q_EMIT changed();
    return {};
}

void PressureMonitor::leaveRecording()
{
    m_replayed.reset();
    Q_EMIT modelChanged();
    Q_EMIT changed();
}

QString PressureMonitor::deviceName() const
{
    if (m_replayed)
        return m_replayed->device;
    return m_frame.device ? QString::fromStdString(m_frame.device->id) : QString();
}

QVariant PressureMonitor::tokensPerSecond() const
{
    return orUndefined(m_frame.decode_tokens_per_s);
}

QVariant PressureMonitor::prefillTokensPerSecond() const
{
    return orUndefined(m_frame.prefill_tokens_per_s);
}

QVariant PressureMonitor::ttftMs() const
{
    return orUndefined(m_frame.ttft_ms);
}

QVariant PressureMonitor::tpotMeanMs() const
{
    return m_frame.tpot ? QVariant(m_frame.tpot->mean_ms) : QVariant();
}

QVariant PressureMonitor::tpotP50Ms() const
{
    return m_frame.tpot ? QVariant(m_frame.tpot->p50_ms) : QVariant();
}

QVariant PressureMonitor::tpotP99Ms() const
{
    return m_frame.tpot ? QVariant(m_frame.tpot->p99_ms) : QVariant();
}

void PressureMonitor::onFrame(quint64 turn, const engine::Telemetry& frame)
{
    take(turn, frame);
}

void PressureMonitor::onPlacement(const engine::Telemetry& frame)
{
    // Of no turn: where the bytes lie is new, the last answer's numbers stay.
    engine::Telemetry known = frame;
    known.ttft_ms = m_frame.ttft_ms;
    known.tpot = m_frame.tpot;
    known.prefill_tokens_per_s = m_frame.prefill_tokens_per_s;
    known.decode_tokens_per_s = m_frame.decode_tokens_per_s;
    take(0, known);
}

void PressureMonitor::take(quint64 turn, const engine::Telemetry& frame)
{
    m_frame = frame;
    m_history.add(turn, frame);
    measureFlow(frame);
    tellSoon();
}

void PressureMonitor::measureFlow(const engine::Telemetry& frame)
{
    const bool other = frame.phase != m_flowFrom.phase || frame.generated_tokens < m_flowFrom.generated_tokens;
    if (!other && frame.time_us - m_flowFrom.time_us < kFlowUs)
        return;
    if (!other)
        m_pipeline = PipelineReading::between(m_flowFrom, frame, m_readsAll);
    m_flowFrom = frame;
}

void PressureMonitor::onLoadAdvanced(qint64 bytesDone)
{
    if (!m_loading.isValid() || bytesDone < m_loadedBytes) {
        m_loading.start();
        m_loadedBytes = bytesDone;
        return;
    }
    if (m_loading.elapsed() < kLoadMs)
        return;
    m_pipeline = {};
    m_pipeline.phase = PipelineReading::Load;
    m_pipeline.bottleneck = PipelineReading::Disk;
    m_pipeline.disk = 1000.0 * double(bytesDone - m_loadedBytes) / double(m_loading.restart());
    m_loadedBytes = bytesDone;
    tellSoon();
}

void PressureMonitor::onEvent(const engine::Event& event)
{
    m_history.add(event);
    tellSoon();
}

void PressureMonitor::onFinished(quint64 turn, const engine::Turn& result)
{
    m_frame = result.telemetry;
    m_pipeline = {};
    m_flowFrom = {};
    m_history.finish(turn, result.telemetry);
    tellSoon();
    const auto mean = [](const engine::TokenTimes& times) { return times.mean_ms; };
    keep(m_ttfts, result.telemetry.ttft_ms);
    keep(m_tpots, result.telemetry.tpot ? std::optional(mean(*result.telemetry.tpot)) : std::nullopt);
    keep(m_prefills, result.telemetry.prefill_tokens_per_s);
    Q_EMIT answersChanged();
}

void PressureMonitor::onModelReady(const engine::ModelInfo& model)
{
    // The engine's own first frame may have come before.
    m_hasModel = true;
    m_modelName = QString::fromStdString(model.name);
    m_readsAll = model.experts == 0;
    m_loading.invalidate();
    m_pipeline = {};
    m_frame.context_limit = model.context_in_use;
    Q_EMIT modelChanged();
    Q_EMIT changed();
}

void PressureMonitor::onModelGone()
{
    m_hasModel = false;
    m_frame = {};
    m_pipeline = {};
    m_flowFrom = {};
    m_loadedBytes = 0;
    m_loading.invalidate();
    m_history.clear();
    m_ttfts.clear();
    m_tpots.clear();
    m_prefills.clear();
    Q_EMIT modelChanged();
    Q_EMIT answersChanged();
    Q_EMIT changed();
}

void PressureMonitor::tellSoon()
{
    if (!m_tell.isActive())
        m_tell.start();
}
