// PressureMonitor tells the pressure panel what to show.
#pragma once

#include "app/pressure/flight_recorder.h"
#include "app/pressure/memory_reading.h"
#include "app/pressure/pipeline_reading.h"
#include "app/pressure/thrown_away.h"
#include "engine/engine.h"

#include <QDateTime>
#include <QHash>
#include <QList>
#include <QObject>
#include <QTimer>
#include <QUrl>
#include <QVariant>
#include <QtQml/qqmlregistration.h>

#include <memory>

/// Takes the engine's frames and events as they come, has them recorded, and tells the panel about ten times a second
/// that there is something new. It shows what is measured now, or a conversation's `earlier` recording, which its next
/// answer continues, or a file that is replayed. Where the model computes `ofAnother` conversation, memory is of now,
/// and history and numbers are the shown conversation's. Of turns that run at the same time it shows the one that the
/// recorder follows. Undefined means "not known", never zero. Lives on the UI thread; owned by Program.
class PressureMonitor : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(bool hasModel READ hasModel NOTIFY changed)
    Q_PROPERTY(bool replaying READ replaying NOTIFY modelChanged)
    Q_PROPERTY(bool earlier READ earlier NOTIFY changed)
    Q_PROPERTY(bool ofAnother READ ofAnother NOTIFY changed)
    Q_PROPERTY(bool severalModels READ severalModels NOTIFY changed)
    Q_PROPERTY(QString recordingModel READ recordingModel NOTIFY changed)
    Q_PROPERTY(QDateTime recordingMade READ recordingMade NOTIFY changed)
    Q_PROPERTY(QVariant recordedSpill READ recordedSpill NOTIFY changed)
    Q_PROPERTY(QString trouble READ trouble NOTIFY troubleChanged)
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
    explicit PressureMonitor(QObject* parent = nullptr);

    bool hasModel() const { return m_hasModel; }
    bool replaying() const { return m_replayed.has_value(); }  // a recording is shown instead of what happens now
    /// Says whether all that is shown of the conversation was measured before the model was loaded.
    bool earlier() const { return !m_replayed && m_recorder.shownIsEarlier(); }
    /// Says whether the model's KV is another conversation's.
    bool ofAnother() const { return !m_replayed && m_recorder.computesAnother(); }
    /// Returns where the model's KV lies; null: nowhere, or all that is known of it is of another conversation.
    std::shared_ptr<const engine::KvMap> kvMap() const { return showsKv() ? m_frame.kv_map : nullptr; }
    bool showsKv() const;  // and the experts that its tokens chose
    /// Says whether other models answered before in this conversation; charts are of the newest.
    bool severalModels() const;
    QString recordingModel() const { return recording().model; }
    QDateTime recordingMade() const { return recording().made; }
    QVariant recordedSpill() const;  // tokens; undefined: nothing left the device, or the forecast shows it
    QString trouble() const { return m_trouble; }  // why a recording cannot be shown; empty: all is well
    bool canRecord() const { return !m_recorder.shown().history.samples().isEmpty(); }
    QString deviceName() const;  // empty: all is computed on the host
    MemoryReading device() const;
    MemoryReading host() const;
    PipelineReading pipeline() const { return m_pipeline.reading(); }
    int contextTokens() const;
    int contextLimit() const;
    int blocksOnDevice() const { return showsKv() ? m_frame.kv_blocks_device : 0; }
    int blocksOnHost() const { return showsKv() ? m_frame.kv_blocks_host : 0; }
    QVariant tokensPerSecond() const;
    QVariant prefillTokensPerSecond() const;
    QVariant ttftMs() const;
    QVariant tpotMeanMs() const;
    QVariant tpotP50Ms() const;
    QVariant tpotP99Ms() const;
    QList<double> ttftHistory() const;  // of the newest answers, in ms; so below, prefill in tokens/s
    QList<double> tpotHistory() const;
    QList<double> prefillHistory() const;

    /// Returns what is shown: the file that was opened, else that of the conversation.
    const Recording& recording() const { return m_replayed ? *m_replayed : m_recorder.drawn(); }
    const PressureHistory& history() const { return recording().history; }
    FlightRecorder& recorder() { return m_recorder; }
    const FlightRecorder& recorder() const { return m_recorder; }

    /// Writes what was measured of the conversation so far to a file. Empty: it was written; else one sentence why not.
    Q_INVOKABLE QString saveRecording(const QUrl& file) const;
    /// Shows a recording in the same charts when a pool thread has read it; if that fails, trouble() says why. A later
    /// call, or leaveRecording(), cancels this one.
    Q_INVOKABLE void openRecording(const QUrl& file);
    Q_INVOKABLE void leaveRecording();
    Q_INVOKABLE void dismissTrouble();
    const engine::Telemetry& frame() const { return m_frame; }

    // Called for each report of the engine; one of a turn that the recorder does not follow is only recorded.
    void onFrame(quint64 turn, const engine::Telemetry& frame);
    void onPlacement(const engine::Telemetry& frame);
    void onEvent(const engine::Event& event, const QStringList& conversations = {});
    void onFinished(quint64 turn, const engine::Turn& result);
    void onFailed(quint64 turn);
    void onLoadAdvanced(qint64 bytesDone);
    void onModelReady(const engine::ModelInfo& model);
    void onModelGone();

Q_SIGNALS:
    void changed();         // at most ten times a second
    void answersChanged();  // one more has ended
    void modelChanged();    // another model, conversation or recording is shown
    void troubleChanged();

private:
    void take(quint64 turn, const engine::Telemetry& frame);
    void showFollowed();
    void tellSoon();
    bool ofNow() const { return !m_replayed && !m_recorder.shownIsEarlier() && !m_recorder.computesAnother(); }
    QVariant ofAnswer(std::optional<double> Recording::Answer::*number, const std::optional<double>& now) const;
    QList<double> ofAnswers(std::optional<double> Recording::Answer::*number) const;
    void showOther();
    void setTrouble(const QString& sentence);

    FlightRecorder m_recorder;
    std::optional<Recording> m_replayed;
    quint64 m_openJob = 0;  // the newest job that reads a file
    engine::Telemetry m_frame;
    ThrownAway m_thrownAway;
    QHash<quint64, engine::Telemetry> m_beside;  // the newest frame of each turn beside the followed one
    PipelineMeter m_pipeline;
    bool m_hasModel = false, m_answering = false;
    QTimer m_tell;
    QString m_trouble;
};
