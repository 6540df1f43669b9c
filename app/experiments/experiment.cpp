#include "app/experiments/experiment.h"

#include <QCoreApplication>

#include <algorithm>
#include <array>

namespace {

constexpr std::array kKeys = {"cpu", "resident", "stream", "merge", "auto", "cpu-decode"};
constexpr std::array kNames = {
    QT_TRANSLATE_NOOP("Experiments", "CPU only"), QT_TRANSLATE_NOOP("Experiments", "Resident"),
    QT_TRANSLATE_NOOP("Experiments", "Stream"),   QT_TRANSLATE_NOOP("Experiments", "Merge"),
    QT_TRANSLATE_NOOP("Experiments", "Auto"),     QT_TRANSLATE_NOOP("Experiments", "CPU decode")};
static_assert(kKeys.size() == kStrategies && kNames.size() == kStrategies);

constexpr std::array kOutcomeKeys = {"measured", "refused", "crashed", "timed_out", "garbled", "cancelled"};
constexpr std::array kOutcomeNames = {
    QT_TRANSLATE_NOOP("Experiments", "measured"), QT_TRANSLATE_NOOP("Experiments", "refused"),
    QT_TRANSLATE_NOOP("Experiments", "crashed"),  QT_TRANSLATE_NOOP("Experiments", "took too long"),
    QT_TRANSLATE_NOOP("Experiments", "unclear"),  QT_TRANSLATE_NOOP("Experiments", "cancelled")};
static_assert(kOutcomeKeys.size() == kOutcomes && kOutcomeNames.size() == kOutcomes);

}  // namespace

QList<ExperimentCell> ExperimentPlan::cells() const
{
    QList<int> sorted = contexts;
    std::sort(sorted.begin(), sorted.end());
    QList<ExperimentCell> cells;
    cells.reserve(models.size() * contexts.size() * strategies.size());
    for (int model = 0; model < models.size(); ++model)
        for (const int context : sorted)
            for (const Strategy::Name strategy : strategies) {
                const bool places = placesExperts(model, strategy);
                for (const ExpertChoice& experts : places ? expertChoices() : QList<ExpertChoice>(1))
                    cells.append({model, context, strategy, experts});
            }
    return cells;
}

bool ExperimentPlan::hasExperts() const
{
    return std::ranges::any_of(models, &ExperimentModel::hasExperts);
}

QList<ExpertChoice> ExperimentPlan::expertChoices() const
{
    QList<ExpertChoice> choices;
    for (const bool inRam : expertsInRam)
        for (const QString& copies : expertCopies)
            choices.append({inRam, copies});
    return choices;
}

bool ExperimentPlan::placesExperts(int model, Strategy::Name strategy) const
{
    return models.value(model).hasExperts && strategy != Strategy::CpuOnly;
}

ExpertChoice ExperimentPlan::expertsOf(int model, Strategy::Name strategy, const ExpertChoice& wanted) const
{
    return placesExperts(model, strategy) ? wanted : ExpertChoice();
}

std::optional<double> ExperimentRow::hitRate() const
{
    const double hits = expertHits.value_or(0), reads = hits + expertMisses.value_or(0);
    return reads > 0 ? std::optional(hits / reads) : std::nullopt;
}

std::optional<double> ExperimentRun::ratio(const ExperimentRow& row, Strategy::Name base) const
{
    const ExperimentCell there{row.cell.model, row.cell.contextTokens, base,
                               plan.expertsOf(row.cell.model, base, row.cell.experts)};
    const auto found = std::ranges::find(rows, there, &ExperimentRow::cell);
    if (found == rows.end() || !row.tokensPerSecond || !found->tokensPerSecond || *found->tokensPerSecond <= 0)
        return {};
    return *row.tokensPerSecond / *found->tokensPerSecond;
}

QString strategyKey(Strategy::Name strategy)
{
    return QString::fromLatin1(kKeys[std::size_t(strategy)]);
}

std::optional<Strategy::Name> strategyOf(const QString& key)
{
    for (int i = 0; i < kStrategies; ++i)
        if (key == QLatin1String(kKeys[std::size_t(i)]))
            return Strategy::Name(i);
    return {};
}

QString strategyName(Strategy::Name strategy)
{
    return QCoreApplication::translate("Experiments", kNames[std::size_t(strategy)]);
}

QString expertsName(const ExpertChoice& experts)
{
    QString place = experts.inRam ? QCoreApplication::translate("Experiments", "in RAM")
                                  : QCoreApplication::translate("Experiments", "as they fit");
    if (experts.copies == ExpertChoice::kNoCopies)
        return place;
    if (experts.copies == ExpertChoice::kAutomatic)
        return QCoreApplication::translate("Experiments", "%1, copies as they pay").arg(place);
    return QCoreApplication::translate("Experiments", "%1, copies %2").arg(place, experts.copies);
}

QString outcomeKey(Outcome::Kind outcome)
{
    return QString::fromLatin1(kOutcomeKeys[std::size_t(outcome)]);
}

QString outcomeName(Outcome::Kind outcome)
{
    return QCoreApplication::translate("Experiments", kOutcomeNames[std::size_t(outcome)]);
}

#include "moc_experiment.cpp"
