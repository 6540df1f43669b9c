// What holds the last answer back, from what was measured of it: one cause, and one change that would help.
#pragma once

#include "engine/engine.h"

#include <QtGlobal>

#include <optional>
#include <vector>

/// A change that can be asked for.
struct DoctorAction {
    enum class Kind {
        None,
        SetLayers,  // value: on the device; -1: as many as fit
        SetPolicy,  // an engine::KvPolicy
        SetBudget,  // bytes of the device's memory
        SetThreads,
        ReloadWithContext,    // tokens
        SmallerQuantisation,  // bytes that its weights may take
        CloseOtherPrograms,   // bytes that they hold
        SetKvType,            // an engine::KvType
    };
    Kind kind = Kind::None;
    qint64 value = 0;
    bool operator==(const DoctorAction&) const = default;
};

/// What the planner says a change would bring, at the present context.
struct DoctorOption {
    DoctorAction action = {};
    std::optional<double> tokensPerSecond = {};  // empty: a rate of this machine is not known
};

/// What is known when an answer has ended.
struct DoctorFacts {
    engine::Telemetry last = {};       // its last frame
    std::vector<double> earlier = {};  // tokens/s of the conversation's answers before, the oldest first
    int layers = 0;                    // of the model
    qint64 weightBytes = 0;
    double kvBytesPerToken = 0;                      // of all layers, in the format in use
    std::optional<double> kvBytesPerTokenAsQ8 = {};  // were it q8_0; empty: it is
    engine::KvPolicy policy = engine::KvPolicy::Auto;
    std::optional<double> linkBytesPerSecond = {};  // to the device, where a GPU waits for it unseen
    std::optional<int> spillTokens = {};            // where the first block leaves the device; empty: nowhere
    std::optional<double> predicted = {};           // tokens/s as it is placed now
    std::vector<DoctorOption> options = {};         // other placements
};

struct Diagnosis {
    enum class Kind {
        Nothing,               // no answer yet that could be judged
        AllWell,               // `share` of the time is the layers', where most of them are
        SwapInUse,             // `bytes` of the program are on the disk
        ContextTooLarge,       // memory ends at `tokens`, and the context does not
        DeviceWillBeFull,      // under `resident`, at `tokens`
        DriverSpill,           // `bytes` of the device's memory lie in the host's, without a word of the system
        SlowFirstToken,        // `tokens` of a prompt took `seconds`
        KvOverLink,            // `share` of the time is waiting for KV
        KvOnHost,              // `share` of the time the CPU attends KV that found no room
        TooManyThreads,        // `count` of them on `available` cores
        TooFewThreads,         // the same
        OtherPrograms,         // hold `bytes`, and `count` layers are on the host
        QuantisationTooLarge,  // `bytes` of weights for `available` bytes of memory
        HostLayers,            // `share` of the time is that of `count` layers
    };
    Kind kind = Kind::Nothing;
    double share = 0;  // of the time of a token
    double seconds = 0;
    qint64 bytes = 0;
    qint64 available = 0;
    int tokens = 0;
    int count = 0;
    std::optional<double> fellFrom = {};  // tokens/s before it fell to `tokensPerSecond`
    std::optional<double> tokensPerSecond = {};
    DoctorAction action = {};
    std::optional<double> predicted = {};  // tokens/s after it
};

/// A pure function. What makes all numbers meaningless comes first: memory that is not there. Then the longest wait.
Diagnosis diagnose(const DoctorFacts& facts);
