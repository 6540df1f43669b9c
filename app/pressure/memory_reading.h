// MemoryReading says what one memory holds.
#pragma once

#include "engine/telemetry.h"

#include <QObject>
#include <QtQml/qqmlregistration.h>

/// The bytes of one memory by what they are, at one moment. A device's copies of experts count as `experts`, not as
/// `weights`. Free is what this program may still take: within a budget it is less than what is left of `total`.
/// `known` is false where this machine cannot tell.
class MemoryReading
{
    Q_GADGET
    QML_VALUE_TYPE(memoryReading)
    Q_PROPERTY(bool known MEMBER known CONSTANT)
    Q_PROPERTY(double weights MEMBER weights CONSTANT)
    Q_PROPERTY(double experts MEMBER experts CONSTANT)
    Q_PROPERTY(double kv MEMBER kv CONSTANT)
    Q_PROPERTY(double state MEMBER state CONSTANT)
    Q_PROPERTY(double scratch MEMBER scratch CONSTANT)
    Q_PROPERTY(double others MEMBER others CONSTANT)
    Q_PROPERTY(double free MEMBER free CONSTANT)
    Q_PROPERTY(double total MEMBER total CONSTANT)
    Q_PROPERTY(double budget MEMBER budget CONSTANT)
    Q_PROPERTY(double watermark MEMBER watermark CONSTANT)
    Q_PROPERTY(double used READ used CONSTANT)

public:
    /// Returns the reading of the device's memory; not `known` where there is no device.
    static MemoryReading ofDevice(const engine::Telemetry& frame);
    /// Returns the reading of the RAM.
    static MemoryReading ofHost(const engine::Telemetry& frame);

    double used() const { return weights + experts + kv + state + scratch; }  // by this program
    bool operator==(const MemoryReading&) const = default;

    bool known = false;
    double weights = 0;
    double experts = 0;  // copies of experts that lie in RAM
    double kv = 0;
    double state = 0;    // of recurrent layers; in RAM with all checkpoints
    double scratch = 0;  // with the ring that blocks are streamed through, and memory taken ahead for KV
    double others = 0;   // other programs
    double free = 0;
    double total = 0;
    double budget = 0;  // what the program allows itself; 0: no limit is set
    double watermark = 0;
};
