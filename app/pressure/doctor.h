// diagnose() finds in the measurements of an answer the one cause that slowed it most, and one change that would help.
#pragma once

#include "engine/engine.h"

#include <QString>
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
        GrowBack,             // to the budget that the device had before another program needed it
        Shrink,               // to bytes, for another program: undoes GrowBack
        SetHostExperts,       // layers whose experts lie in RAM; -1: as many as KV drives out
        SetRoomForCopies,     // bytes of the device's memory, for experts that lie in RAM
        SetDraftModel,        // `file` guesses for the model from now on; empty: none does
        UseDevice,            // `file` is its id: "cuda:0", "cpu"
    };
    Kind kind = Kind::None;
    qint64 value = 0;
    QString file = {};
    QString name = {};  // of that file, as the list of models has it, or of that device
    bool operator==(const DoctorAction&) const = default;
};

/// Holds what the planner says a change would bring, at the present context.
struct DoctorOption {
    DoctorAction action = {};
    std::optional<double> tokensPerSecond = {};  // empty: a rate of this machine is not known
};

/// A model on this computer that may guess for the open one.
struct DoctorDraft {
    QString path;
    QString name;
    double bytesPerToken = 0;  // read for a guess: its weights, and its KV of the present context
};

/// A GPU of this computer that computes nothing of the model.
struct DoctorGpu {
    QString id;
    QString name;
    qint64 bytes = 0;  // of its memory, in all
};

/// Shares of the time of an answer's tokens, by what it went to; together they are 1.
struct DoctorShares {
    double device = 0, host = 0;  // the model's own arithmetic: weights, and KV where its layer is
    double link = 0;              // waiting for KV
    double hostAttention = 0;     // the CPU, over KV of device layers
    double cores = 0;             // other programs held them: at least so much
    double words = 0;             // choosing them
    double rest = 0;              // text, frames, blocks and layers that move: no cause by itself
    double arithmetic() const { return device + host; }
};

/// Names what can hold an answer back and has a time of its own in the measurements.
enum class DoctorCause { None, Link, HostAttention, HostLayers, Cores, Words };

struct DoctorCauseShare {
    DoctorCause cause = DoctorCause::None;
    double share = 0;
};

struct Diagnosis {
    enum class Kind {
        Nothing,               // no answer yet that could be judged
        AllWell,               // most of the time is the model's own arithmetic, about as fast as predicted
        SwapInUse,             // `bytes` of the program are on the disk
        ContextTooLarge,       // memory ends at `tokens`, and the context does not
        DeviceWillBeFull,      // under `resident`, at `tokens`
        DriverSpill,           // `bytes` of the device's memory lie in the host's, and the system did not report it
        SlowFirstToken,        // `tokens` of a prompt took `seconds`
        KvOverLink,            // `share` of the time is waiting for KV
        KvOnHost,              // `share` of the time the CPU attends KV that found no room
        TooManyThreads,        // `count` of them on `available` cores
        TooFewThreads,         // the same
        OtherPrograms,         // hold `bytes`, and `count` layers are on the host
        QuantisationTooLarge,  // `bytes` of weights for `available` bytes of memory
        HostLayers,            // `share` of the time is that of `count` layers
        CoresHeld,             // by other programs, for `share` of the time
        KvInRam,               // the speed fell while `count` of `available` blocks lay there
        NoSingleCause,         // the model's own arithmetic is less than half; `largest` is a reason, if any is
        BelowPrediction,       // the time is the model's own arithmetic, but slower than predicted
        HostExperts,           // `share` of the time the CPU computes experts of `count` layers
        TooFewCopies,          // the same, and `hits` of those that were read had one of `count` copies of a layer
        ExpertsOverLink,       // the same, and for `linkShare` of the time the link brought copies
        KvStarvesExperts,      // the same, and KV has `available` bytes of the device, copies of experts `bytes`
        ReadFromDisk,          // `bytes` of weights for each token, which take `available` bytes more than RAM has
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
    bool withDrafts = false;                    // that speed counts drafted tokens; else only steps without drafts
    int accepted = 0;                           // drafted tokens of the answer
    std::optional<double> slowedByDrafts = {};  // tokens/s of the answer, where drafts cost more than they brought
    double hits = 0;                            // share of the experts in RAM that were read
    double linkShare = 0;                       // of the answer's time
    bool ofExperts = false;                     // most of the weights are experts'
    DoctorCauseShare largest = {};
    DoctorAction action = {};
    std::optional<double> predicted = {};        // tokens/s after it
    std::optional<double> predictedAtMost = {};  // where it depends on something unknown: `predicted` is the least then
    std::optional<double> expected = {};         // tokens/s that were predicted for the present placement
    DoctorShares shares = {};
};

/// Holds what is known when an answer has ended.
struct DoctorFacts {
    engine::Telemetry last = {};           // its last frame
    std::vector<double> earlier = {};      // measuredSpeed() of the conversation's answers before, the oldest first
    std::optional<double> waitedS = {};    // for which its threads waited for cores, at least; empty: not known
    std::optional<double> diskBytes = {};  // that were fetched from a disk during its tokens; empty: not known
    double expertHits = 0;                 // reads of experts in RAM of which the device had a copy
    double expertMisses = 0;               // and reads of the others
    double copiedBytes = 0;                // to the device, to stay: KV, copies of experts, layers that moved
    int layers = 0;                        // of the model
    int experts = 0;                       // of a layer; 0: it has none
    int expertsUsed = 0;                   // for a token
    qint64 weightBytes = 0;
    qint64 stateBytes = 0;                           // of recurrent layers, checkpoints included
    double kvBytesPerToken = 0;                      // of all layers, in the format in use
    std::optional<double> kvBytesPerTokenAsQ8 = {};  // if it were q8_0; empty: it is already
    engine::KvPolicy policy = engine::KvPolicy::Auto;
    std::optional<double> linkBytesPerSecond = {};      // to the device; empty: it is measured instead, or not known
    std::optional<int> spillTokens = {};                // where the first block leaves the device; empty: nowhere
    std::optional<double> predicted = {};               // tokens/s as it is placed now
    std::vector<DoctorOption> options = {};             // other placements
    std::optional<DoctorDraft> draft = {};              // a model that could guess; empty: there is none to suggest
    std::optional<DoctorGpu> unusedGpu = {};            // empty: none, or the CPU was asked for by name
    bool shrunk = false;                                // the budget was, for another program, and can grow back
    Diagnosis::Kind before = Diagnosis::Kind::Nothing;  // what was said of the conversation's last answer
};

DoctorShares sharesOf(const DoctorFacts& facts);
/// Returns the cause that took the most time; of equal ones the first.
DoctorCauseShare largestCause(const DoctorFacts& facts, const DoctorShares& shares);
/// Returns an answer's speed in tokens a second, without what drafts brought; empty: not known.
std::optional<double> measuredSpeed(const engine::Telemetry& last);
/// Returns the speed of an answer in tokens a second, where drafts cost noticeably more than they brought; empty: they
/// did not.
std::optional<double> slowedByDrafts(const engine::Telemetry& last);
/// Says whether the change is predicted to alter the speed by more than two answers differ anyway; true also where
/// nothing is predicted.
bool changesSpeed(const Diagnosis& diagnosis);

/// Returns what to say of an answer; a pure function. A lack of memory comes first, since it makes all other numbers
/// meaningless; then the cause that took the most time. The diagnosis of the last answer stays until it is clearly
/// wrong.
Diagnosis diagnose(const DoctorFacts& facts);
