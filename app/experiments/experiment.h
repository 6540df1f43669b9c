// ExperimentRun holds an experiment: a plan, and a row of results for each combination of model, context, strategy and
// place of experts.
#pragma once

#include <QDateTime>
#include <QList>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QtQml/qqmlregistration.h>

#include <optional>

/// Says where a model's layers and KV lie while it is measured. Files keep the names, not the numbers, so that one may
/// be added.
namespace Strategy {
Q_NAMESPACE
QML_ELEMENT
enum Name { CpuOnly, Resident, Stream, Merge, Auto, CpuDecode };
Q_ENUM_NS(Name)
}  // namespace Strategy
inline constexpr int kStrategies = Strategy::CpuDecode + 1;

namespace Outcome {
Q_NAMESPACE
QML_ELEMENT
enum Kind {
    Measured,
    Refused,    // by the engine: it does not fit, or not under this strategy
    Crashed,    // a signal ended the child, or it could not be started
    TimedOut,   // the child took too long and was ended
    Garbled,    // what the child printed are not the numbers of a measurement
    Cancelled,  // by the user
};
Q_ENUM_NS(Kind)
}  // namespace Outcome
inline constexpr int kOutcomes = Outcome::Cancelled + 1;

struct ExperimentModel {
    QString title;
    QString path;   // of the file; empty: it is a shape
    QString shape;  // "mistral-7b:q4_k_m"
    bool hasExperts = false;
    int contextTokens = 0;  // it was made for; 0: not known, as where a run was read from a file
    bool operator==(const ExperimentModel&) const = default;
};

/// Says where a mixture's routed experts lie while it is measured on a device, and how much room the device has for
/// copies of the experts in RAM.
struct ExpertChoice {
    static inline const QString kNoCopies = QStringLiteral("off");
    static inline const QString kAutomatic = QStringLiteral("auto");
    bool inRam = false;          // all of them; false: only those that find no room on the device
    QString copies = kNoCopies;  // "off", "auto" (as many as pay) or a size: "2GiB"
    bool operator==(const ExpertChoice&) const = default;
};

/// One cell of a plan.
struct ExperimentCell {
    int model = 0;  // its place in the plan
    int contextTokens = 0;
    Strategy::Name strategy = Strategy::CpuOnly;
    ExpertChoice experts = {};
    bool operator==(const ExperimentCell&) const = default;
};

struct ExperimentPlan {
    QList<ExperimentModel> models;
    QList<int> contexts;
    QList<Strategy::Name> strategies;
    QList<bool> expertsInRam = {false};  // for models that have experts
    QStringList expertCopies = {ExpertChoice::kNoCopies};
    int repeats = 3;
    int answerTokens = 32;  // measured at the end of each context
    QString device;         // "emulated", "cuda:0"
    QString memory;         // of the device, that may be used: "fit:1024", "64MiB"; empty: all
    QString kvType = QStringLiteral("f16");
    int threads = 0;      // 0: one per core
    int rowMinutes = 60;  // after this many minutes a row is given up

    /// Returns the cells in the order in which they are measured: within a model what takes longest comes last.
    QList<ExperimentCell> cells() const;
    bool hasExperts() const;  // any of its models
    /// Returns each place of experts with each room for copies.
    QList<ExpertChoice> expertChoices() const;
    /// Says whether there is a choice where experts lie: the model has some, and the strategy uses a device.
    bool placesExperts(int model, Strategy::Name strategy) const;
    /// Returns the choice `wanted` if the model and the strategy have one (see placesExperts()), else the default one.
    ExpertChoice expertsOf(int model, Strategy::Name strategy, const ExpertChoice& wanted) const;
    bool operator==(const ExperimentPlan&) const = default;

    static constexpr int kMostModels = 32;
    static constexpr int kMostContexts = 32;
    static constexpr int kFewestTokens = 64;  // of a context
    static constexpr int kMostTokens = 1 << 20;
    static constexpr int kMostCopies = 16;  // sizes of the memory for copies of experts
    static constexpr int kMostRepeats = 100;
    static constexpr int kMostMinutes = 24 * 60;
};

/// Holds the result of one cell. An empty number was not measured, or does not exist.
struct ExperimentRow {
    ExperimentCell cell;
    Outcome::Kind outcome = Outcome::Measured;
    QString sentence;                                         // why there are no numbers
    QString device;                                           // as the engine names it
    std::optional<double> tokensPerSecond, slowest, fastest;  // the median, and the extremes of the repeats
    std::optional<double> readMs;                             // of the context: the wait for the answer's first token
    std::optional<double> p99Ms;                              // per token
    std::optional<double> deviceBytes, hostBytes;             // peaks
    std::optional<double> copyBytes;                          // of experts in RAM, on the device
    std::optional<double> expertHits, expertMisses;           // experts in RAM that were read, with a copy and without
    double seconds = 0;                                       // how long the child ran

    /// Returns the share that had a copy on the device, of the experts in RAM that were read. Empty: none was read.
    std::optional<double> hitRate() const;
    bool operator==(const ExperimentRow&) const = default;
};

struct ExperimentRun {
    QString id;  // of its file
    QString name;
    QDateTime started;
    QString machine;
    int cores = 0;  // of it; 0: not known
    QString kernels;
    bool cancelled = false;
    ExperimentPlan plan;
    QList<ExperimentRow> rows;  // the first cells of the plan, as far as it came

    /// Returns a row's speed as a share of what `base` reaches with the same model, context and place of experts.
    /// Nothing: one of the two was not measured.
    std::optional<double> ratio(const ExperimentRow& row, Strategy::Name base) const;
    bool operator==(const ExperimentRun&) const = default;
};

/// Returns the name that spillway-cli and files use: "merge".
QString strategyKey(Strategy::Name strategy);
std::optional<Strategy::Name> strategyOf(const QString& key);
/// Returns the strategy's name for people, in their language.
QString strategyName(Strategy::Name strategy);
/// Returns the choice for people: "in RAM, copies 2GiB".
QString expertsName(const ExpertChoice& experts);
QString outcomeKey(Outcome::Kind outcome);
QString outcomeName(Outcome::Kind outcome);
