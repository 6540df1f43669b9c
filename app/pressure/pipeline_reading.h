// PipelineReading says how fast bytes flow from the disk to the next token.
#pragma once

#include "engine/telemetry.h"

#include <QElapsedTimer>
#include <QObject>
#include <QVariant>
#include <QtQml/qqmlregistration.h>

/// Holds the rates of the stages between two frames, and the stage that took most of the time. Undefined: not known, or
/// nothing flows there. Decoding reads every byte of weights and KV once for each step, so that the rates of RAM and
/// VRAM follow from the number of steps; the bytes that cross the link are counted.
class PipelineReading
{
    Q_GADGET
    QML_VALUE_TYPE(pipelineReading)
    Q_PROPERTY(int phase MEMBER phase CONSTANT)
    Q_PROPERTY(int bottleneck MEMBER bottleneck CONSTANT)
    Q_PROPERTY(QVariant disk MEMBER disk CONSTANT)
    Q_PROPERTY(QVariant ram MEMBER ram CONSTANT)
    Q_PROPERTY(QVariant link MEMBER link CONSTANT)
    Q_PROPERTY(QVariant vram MEMBER vram CONSTANT)
    Q_PROPERTY(QVariant compute MEMBER compute CONSTANT)

public:
    enum Phase { Idle, Load, Prefill, Decode, Offload };
    Q_ENUM(Phase)
    enum Stage { None = -1, Disk, Ram, Link, Vram, Compute };
    Q_ENUM(Stage)

    /// `readsAll`: a token reads all weights, which is false for a mixture of experts; RAM and VRAM are then undefined.
    static PipelineReading between(const engine::Telemetry& before, const engine::Telemetry& now, bool readsAll);

    int phase = Idle;
    int bottleneck = None;
    QVariant disk, ram, link, vram;  // bytes/s
    QVariant compute;                // tokens/s
};

/// Measures the reading while the engine's frames come: over 0.3 s and more when tokens are computed, over 0.1 s while
/// a file is loaded. Lives on the UI thread; owned by the PressureMonitor.
class PipelineMeter
{
public:
    const PipelineReading& reading() const { return m_reading; }

    void add(const engine::Telemetry& frame);
    /// Call it while a file is loaded, with the bytes read so far. Returns whether the reading has changed.
    bool addLoaded(qint64 bytesDone);
    void endTurn();
    /// Call it when the model is loaded; `readsAll` as for PipelineReading::between.
    void beginModel(bool readsAll);
    void endModel();

private:
    PipelineReading m_reading;
    engine::Telemetry m_from;  // the frame that the rates are measured from
    QElapsedTimer m_loading;
    qint64 m_loadedBytes = 0;
    bool m_readsAll = true;
};
