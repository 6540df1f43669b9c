// PipelineReading says how fast bytes flow from the disk to the next token.
#pragma once

#include "engine/telemetry.h"

#include <QObject>
#include <QVariant>
#include <QtQml/qqmlregistration.h>

/// The rates of the stages between two frames, and which of them the time went to. Undefined: not known, or nothing
/// flows there. Decoding reads every byte of the weights and of the KV once for each token, so that these rates follow
/// from the tokens; what crosses the link is counted.
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

    /// `readsAll`: a token reads all weights, as it does not in a mixture of experts.
    static PipelineReading between(const engine::Telemetry& before, const engine::Telemetry& now, bool readsAll);

    int phase = Idle;
    int bottleneck = None;
    QVariant disk, ram, link, vram;  // bytes/s
    QVariant compute;                // tokens/s
};
