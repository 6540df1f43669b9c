// ModelFit tells the pages in numbers whether a model fits into this machine's memory.
#pragma once

#include "app/catalogue/fixed_state.h"
#include "engine/memory_plan.h"

#include <QObject>
#include <QVariant>
#include <QtQml/qqmlregistration.h>

/// The verdicts of engine::Fit, for the pages.
namespace Fit {
Q_NAMESPACE
QML_ELEMENT
enum Verdict { Unknown, Fits, FitsWithLessContext, Tight, DoesNotFit };
Q_ENUM_NS(Verdict)
}  // namespace Fit

/// engine::FitReport as a value for the pages. Bytes are doubles, since QML has no 64-bit integers; unknown ones are
/// negative.
class ModelFit
{
    Q_GADGET
    QML_VALUE_TYPE(modelFit)
    Q_PROPERTY(Fit::Verdict verdict MEMBER verdict CONSTANT)
    Q_PROPERTY(int contextTokens MEMBER contextTokens CONSTANT)
    Q_PROPERTY(int largestContext MEMBER largestContext CONSTANT)
    Q_PROPERTY(double neededBytes MEMBER neededBytes CONSTANT)
    Q_PROPERTY(double weightBytes MEMBER weightBytes CONSTANT)
    Q_PROPERTY(double kvBytes MEMBER kvBytes CONSTANT)
    Q_PROPERTY(double stateBytes MEMBER stateBytes CONSTANT)
    Q_PROPERTY(double scratchBytes MEMBER scratchBytes CONSTANT)
    Q_PROPERTY(double draftBytes MEMBER draftBytes CONSTANT)
    Q_PROPERTY(double availableBytes MEMBER availableBytes CONSTANT)
    Q_PROPERTY(double totalBytes MEMBER totalBytes CONSTANT)
    Q_PROPERTY(FixedState state MEMBER state CONSTANT)
    Q_PROPERTY(QVariant expertsOnDevice MEMBER expertsOnDevice CONSTANT)

public:
    ModelFit() = default;
    ModelFit(const engine::FitReport& report, const FixedState& fixed)
        : verdict(Fit::Verdict(report.fit))
        , contextTokens(report.context_tokens)
        , largestContext(report.largest_context)
        , neededBytes(double(report.need.total()))
        , weightBytes(double(report.need.weight_bytes))
        , kvBytes(double(report.need.kv_bytes))
        , stateBytes(double(report.need.state_bytes))
        , scratchBytes(double(report.need.scratch_bytes))
        , draftBytes(double(report.need.draft_bytes))
        , availableBytes(double(report.memory.for_next_model_bytes().value_or(-1)))
        , totalBytes(report.memory.total_bytes ? double(*report.memory.total_bytes) : -1)
        , state(fixed)
    {
    }

    bool operator==(const ModelFit&) const = default;

    Fit::Verdict verdict = Fit::Unknown;
    int contextTokens = 0;   // asked for
    int largestContext = 0;  // that fits now
    double neededBytes = 0;  // at the context asked for
    double weightBytes = 0;
    double kvBytes = 0;
    double stateBytes = 0;
    double scratchBytes = 0;
    double draftBytes = 0;  // of the model that guesses for it, all together
    double availableBytes = -1;
    double totalBytes = -1;
    FixedState state;
    QVariant expertsOnDevice;  // their share, 0 to 1, if all the rest lies there; undefined: not so, or not known
};

static_assert(int(Fit::DoesNotFit) == int(engine::Fit::DoesNotFit));
