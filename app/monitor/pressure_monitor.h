// What the pressure panel shows.
#pragma once

#include "app/monitor/memory_reading.h"
#include "app/monitor/pipeline_reading.h"
#include "app/monitor/pressure_history.h"
#include "app/monitor/recording.h"
#include "engine/engine.h"

#include <QDateTime>
#include <QElapsedTimer>
#include <QList>
#include <QObject>
#include <QTimer>
#include <QUrl>
#include <QVariant>
#include <QtQml/qqmlregistration.h>

/// Takes the engine's frames and events as they come, keeps their history, and tells the panel about ten times a second
/// that there is something new. Undefined means "not known", never zero. Lives on the UI thread; owned by Program.
class PressureMonitor : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(bool hasModel READ hasModel NOTIFY changed)
    Q_PROPERTY(bool replaying READ replaying NOTIFY modelChanged)
    Q_PROPERTY(QString recordingModel READ recordingModel NOTIFY modelChanged)
    Q_PROPERTY(QDateTime recordingMade READ recordingMade NOTIFY modelChanged)
    Q_PROPERTY(bool canRecord READ canRecord NOTIFY changed)
    Q_PROPERTY(QString deviceName READ deviceName NOTIFY changed)
    Q_PROPERTY(MemoryReading device READ device NOTIFY changed)
    Q_PROPERTY(MemoryReading host READ host NOTIFY changed)
    Q_PROPERTY(PipelineReading pipeline READ pipeline NOTIFY changed)
    Q_PROPERTY(int contextTokens READ contextTokens NOTIFY changed)
    Q_PROPERTY(int contextLimit READ contextLimit NOTIFY changed)
    Q_PROPERTY(int blocksOnDevice READ blocksOnDevice NOTIFY changed)
    Q_PROPERTY(int blocksOnHost READ blocksOnHost NOTIFY changed)
    Q_PROPERTY(QVariant tokensPerSecond READ tokensPerSecond NOTIFY changed)
    Q_PROPERTY(QVariant prefillTokensPerSecond READ prefillTokensPerSecond NOTIFY changed)
    Q_PROPERTY(QVariant ttftMs READ ttftMs NOTIFY changed)
    Q_PROPERTY(QVariant tpotMeanMs READ tpotMeanMs NOTIFY changed)
    Q_PROPERTY(QVariant tpotP50Ms READ tpotP50Ms NOTIFY changed)
    Q_PROPERTY(QVariant tpotP99Ms READ tpotP99Ms NOTIFY changed)
    Q_PROPERTY(QList<double> ttftHistory READ ttftHistory NOTIFY answersChanged)
    Q_PROPERTY(QList<double> tpotHistory READ tpotHistory NOTIFY answersChanged)
    Q_PROPERTY(QList<double> prefillHistory READ prefillHistory NOTIFY answersChanged)

public:
    static constexpr int kMostAnswers = 32;  // whose numbers are kept for comparison

    explicit PressureMonitor(QObject* parent = nullptr);

    bool hasModel() const { return m_hasModel; }
    bool replaying() const { return m_replayed.has_value(); }  // a recording is shown instead of what happens now
    QString recordingModel() const { return m_replayed ? m_replayed->model : QString(); }
    QDateTime recordingMade() const { return m_replayed ? m_replayed->made : QDateTime(); }
    bool canRecord() const { return !m_history.samples().isEmpty(); }
    QString deviceName() const;  // empty: all is computed on the host
    MemoryReading device() const;
    MemoryReading host() const;
    PipelineReading pipeline() const { return m_pipeline; }
    int contextTokens() const { return m_replayed ? lastReplayed().contextTokens : m_frame.context_tokens; }
    int contextLimit() const { return m_replayed ? m_replayed->contextLimit : m_frame.context_limit; }
    int blocksOnDevice() const { return m_frame.kv_blocks_device; }
    int blocksOnHost() const { return m_frame.kv_blocks_host; }
    QVariant tokensPerSecond() const;
    QVariant prefillTokensPerSecond() const;
    QVariant ttftMs() const;
    QVariant tpotMeanMs() const;
    QVariant tpotP50Ms() const;
    QVariant tpotP99Ms() const;
    QList<double> ttftHistory() const { return m_ttfts; }
    QList<double> tpotHistory() const { return m_tpots; }
    QList<double> prefillHistory() const { return m_prefills; }

    /// Of what is shown: the recording's, else that of the model that is open.
    const PressureHistory& history() const { return m_replayed ? m_replayed->history : m_history; }

    /// What was measured of the open model so far. Empty: it was written; else one sentence.
    Q_INVOKABLE QString saveRecording(const QUrl& file) const;
    /// Shows a recording in the same charts. Empty: it is shown; else one sentence, and nothing has changed.
    Q_INVOKABLE QString openRecording(const QUrl& file);
    Q_INVOKABLE void leaveRecording();
    const engine::Telemetry& frame() const { return m_frame; }

    // What the engine says.
    void onFrame(quint64 turn, const engine::Telemetry& frame);
    void onPlacement(const engine::Telemetry& frame);
    void onEvent(const engine::Event& event);
    void onFinished(quint64 turn, const engine::Turn& result);
    void onLoadAdvanced(qint64 bytesDone);
    void onModelReady(const engine::ModelInfo& model);
    void onModelGone();

Q_SIGNALS:
    void changed();         // at most ten times a second
    void answersChanged();  // one more has ended
    void modelChanged();    // what was known is of another one

private:
    void take(quint64 turn, const engine::Telemetry& frame);
    void measureFlow(const engine::Telemetry& frame);
    void tellSoon();
    PressureHistory::Sample lastReplayed() const;

    PressureHistory m_history;
    std::optional<Recording> m_replayed;
    QString m_modelName;
    engine::Telemetry m_frame;
    engine::Telemetry m_flowFrom;  // the frame that the pipeline's rates are measured from
    PipelineReading m_pipeline;
    QElapsedTimer m_loading;
    qint64 m_loadedBytes = 0;
    bool m_hasModel = false;
    bool m_readsAll = true;  // of the weights, for each token
    QTimer m_tell;
    QList<double> m_ttfts, m_tpots, m_prefills;  // of the newest answers, in ms and tokens/s
};
