#include "app/experiments/experiment_row_model.h"

#include <algorithm>

namespace {

QVariant known(const std::optional<double>& value)
{
    return value ? QVariant(*value) : QVariant();
}

/// Finds a model by name, since a file may have moved from one run to the next. -1: the run has no such model.
int placeOf(const ExperimentRun& run, const ExperimentModel& model)
{
    const auto& models = run.plan.models;
    const auto found =
        std::ranges::find_if(models, [&](const ExperimentModel& other) { return other.title == model.title; });
    return found == models.end() ? -1 : int(found - models.begin());
}

}  // namespace

ExperimentRowModel::ExperimentRowModel(QObject* parent)
    : QAbstractListModel(parent)
{
}

int ExperimentRowModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(m_run.rows.size());
}

QVariant ExperimentRowModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const ExperimentRow& row = m_run.rows[index.row()];
    switch (role) {
    case ModelRole:
        return m_run.plan.models[row.cell.model].title;
    case ContextRole:
        return row.cell.contextTokens;
    case StrategyRole:
        return int(row.cell.strategy);
    case Qt::DisplayRole:
    case StrategyNameRole:
        return strategyName(row.cell.strategy);
    case OutcomeRole:
        return int(row.outcome);
    case OutcomeNameRole:
        return outcomeName(row.outcome);
    case SentenceRole:
        return row.sentence;
    case SpeedRole:
        return known(row.tokensPerSecond);
    case SlowestRole:
        return known(row.slowest);
    case FastestRole:
        return known(row.fastest);
    case ReadRole:
        return known(row.readMs);
    case P99Role:
        return known(row.p99Ms);
    case DeviceBytesRole:
        return known(row.deviceBytes);
    case HostBytesRole:
        return known(row.hostBytes);
    case EarlierSpeedRole: {
        const ExperimentRow* const earlier = earlierOf(row.cell);
        return earlier ? known(earlier->tokensPerSecond) : QVariant();
    }
    case RatioRole:
        return known(m_run.ratio(row, m_base));
    case ExpertsRole:
        return m_run.plan.placesExperts(row.cell.model, row.cell.strategy) ? expertsName(row.cell.experts) : QString();
    case HitRateRole:
        return known(row.hitRate());
    default:
        return {};
    }
}

QHash<int, QByteArray> ExperimentRowModel::roleNames() const
{
    return {{ModelRole, "modelTitle"},
            {ContextRole, "contextTokens"},
            {StrategyRole, "strategy"},
            {StrategyNameRole, "strategyName"},
            {OutcomeRole, "outcome"},
            {OutcomeNameRole, "outcomeName"},
            {SentenceRole, "sentence"},
            {SpeedRole, "tokensPerSecond"},
            {SlowestRole, "slowest"},
            {FastestRole, "fastest"},
            {ReadRole, "readMs"},
            {P99Role, "p99Ms"},
            {DeviceBytesRole, "deviceBytes"},
            {HostBytesRole, "hostBytes"},
            {EarlierSpeedRole, "earlierTokensPerSecond"},
            {RatioRole, "ratio"},
            {ExpertsRole, "expertsName"},
            {HitRateRole, "hitRate"}};
}

bool ExperimentRowModel::measured() const
{
    return std::ranges::find(m_run.rows, Outcome::Measured, &ExperimentRow::outcome) != m_run.rows.end();
}

QStringList ExperimentRowModel::models() const
{
    QStringList titles;
    for (const ExperimentModel& model : m_run.plan.models)
        titles.append(model.title);
    return titles;
}

QList<int> ExperimentRowModel::strategies() const
{
    QList<int> strategies;
    for (const Strategy::Name strategy : m_run.plan.strategies)
        strategies.append(int(strategy));
    return strategies;
}

QList<int> ExperimentRowModel::chartedStrategies() const
{
    QList<int> charted = strategies();
    if (m_earlier)
        for (const Strategy::Name strategy : m_earlier->plan.strategies)
            if (!charted.contains(int(strategy)))
                charted.append(int(strategy));
    return charted;
}

QStringList ExperimentRowModel::expertChoices() const
{
    QStringList names;
    for (const ExpertChoice& choice : m_run.plan.expertChoices())
        names.append(expertsName(choice));
    return names;
}

void ExperimentRowModel::setChartedExperts(int choice)
{
    if (choice == m_chartedExperts || choice < 0 || choice >= m_run.plan.expertChoices().size())
        return;
    m_chartedExperts = choice;
    Q_EMIT rowsChanged();
}

void ExperimentRowModel::setRun(const ExperimentRun& run)
{
    beginResetModel();
    m_run = run;
    m_chartedExperts = 0;
    m_base = run.plan.strategies.value(0, Strategy::CpuOnly);
    endResetModel();
    Q_EMIT rowsChanged();
}

void ExperimentRowModel::setBase(int strategy)
{
    if (strategy == int(m_base) || !m_run.plan.strategies.contains(Strategy::Name(strategy)))
        return;
    m_base = Strategy::Name(strategy);
    if (!m_run.rows.isEmpty())
        Q_EMIT dataChanged(index(0), index(rowCount() - 1), {RatioRole});
    Q_EMIT rowsChanged();
}

void ExperimentRowModel::setEarlier(const std::optional<ExperimentRun>& run)
{
    m_earlier = run;
    if (!m_run.rows.isEmpty())
        Q_EMIT dataChanged(index(0), index(rowCount() - 1), {EarlierSpeedRole});
    Q_EMIT rowsChanged();
}

void ExperimentRowModel::addRow(const ExperimentRow& row)
{
    beginInsertRows({}, rowCount(), rowCount());
    m_run.rows.append(row);
    endInsertRows();
    if (row.cell.strategy == m_base)  // the rows before it have a ratio now
        Q_EMIT dataChanged(index(0), index(rowCount() - 1), {RatioRole});
    Q_EMIT rowsChanged();
}

QList<ExperimentRow> ExperimentRowModel::measuredOf(const ExperimentRun& run, int model, Strategy::Name strategy) const
{
    const ExpertChoice charted = m_run.plan.expertChoices().value(m_chartedExperts);
    const ExpertChoice experts = run.plan.expertsOf(model, strategy, charted);
    QList<ExperimentRow> rows;
    for (const ExperimentRow& row : run.rows)
        if (row.cell.model == model && row.cell.strategy == strategy && row.cell.experts == experts &&
            row.outcome == Outcome::Measured)
            rows.append(row);
    return rows;  // sorted: contexts ascend in a plan
}

QList<ExperimentRow> ExperimentRowModel::series(int model, Strategy::Name strategy) const
{
    return measuredOf(m_run, model, strategy);
}

QList<ExperimentRow> ExperimentRowModel::earlierSeries(int model, Strategy::Name strategy) const
{
    if (!m_earlier || model < 0 || model >= m_run.plan.models.size())
        return {};
    return measuredOf(*m_earlier, placeOf(*m_earlier, m_run.plan.models[model]), strategy);
}

const ExperimentRow* ExperimentRowModel::earlierOf(const ExperimentCell& cell) const
{
    if (!m_earlier)
        return nullptr;
    ExperimentCell there = cell;
    there.model = placeOf(*m_earlier, m_run.plan.models[cell.model]);
    const auto& rows = m_earlier->rows;
    const auto found = std::ranges::find_if(rows, [&](const ExperimentRow& row) { return row.cell == there; });
    return found == rows.end() ? nullptr : &*found;
}

#include "moc_experiment_row_model.cpp"
