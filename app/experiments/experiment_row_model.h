// ExperimentRowModel lists the rows of an experiment beside those of an earlier one.
#pragma once

#include "app/experiments/experiment.h"

#include <QAbstractListModel>
#include <QStringList>
#include <QtQml/qqmlregistration.h>

#include <optional>

/// Lists the rows of the shown run and, where it is compared with an earlier one, that run's numbers of the same cell.
/// Numbers that do not exist are undefined. Lives on the UI thread; owned by ExperimentsController.
class ExperimentRowModel : public QAbstractListModel
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(int count READ count NOTIFY rowsChanged)
    Q_PROPERTY(bool measured READ measured NOTIFY rowsChanged)
    Q_PROPERTY(QStringList models READ models NOTIFY rowsChanged)
    Q_PROPERTY(QList<int> strategies READ strategies NOTIFY rowsChanged)
    Q_PROPERTY(QList<int> chartedStrategies READ chartedStrategies NOTIFY rowsChanged)
    Q_PROPERTY(int base READ base WRITE setBase NOTIFY rowsChanged)
    Q_PROPERTY(bool compares READ compares NOTIFY rowsChanged)
    Q_PROPERTY(bool emulated READ emulated NOTIFY rowsChanged)
    Q_PROPERTY(bool hasExperts READ hasExperts NOTIFY rowsChanged)
    Q_PROPERTY(QStringList expertChoices READ expertChoices NOTIFY rowsChanged)
    Q_PROPERTY(int chartedExperts READ chartedExperts WRITE setChartedExperts NOTIFY rowsChanged)

public:
    enum Role {
        ModelRole = Qt::UserRole + 1,
        ContextRole,
        StrategyRole,
        StrategyNameRole,
        OutcomeRole,
        OutcomeNameRole,
        SentenceRole,
        SpeedRole,
        SlowestRole,
        FastestRole,
        ReadRole,
        P99Role,
        DeviceBytesRole,
        HostBytesRole,
        EarlierSpeedRole,
        RatioRole,
        ExpertsRole,
        HitRateRole,
    };
    Q_ENUM(Role)

    explicit ExperimentRowModel(QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;

    int count() const { return rowCount(); }
    bool measured() const;                 // some row has numbers, so that there is something to draw
    QStringList models() const;            // of the plan
    QList<int> strategies() const;         // of the plan
    QList<int> chartedStrategies() const;  // these, then those that only the earlier run has
    /// Returns the strategy whose speed is 1 in the ratios: the plan's first, until another is chosen.
    int base() const { return int(m_base); }
    void setBase(int strategy);
    bool compares() const { return m_earlier.has_value(); }
    bool emulated() const { return m_run.plan.device == QLatin1String("emulated"); }
    bool hasExperts() const { return m_run.plan.hasExperts(); }
    QStringList expertChoices() const;  // of the plan, by name
    /// Returns which of them the charts show. Rows without experts, or without a device, are shown with each of them.
    int chartedExperts() const { return m_chartedExperts; }
    void setChartedExperts(int choice);

    const ExperimentRun& run() const { return m_run; }
    const std::optional<ExperimentRun>& earlier() const { return m_earlier; }
    void setRun(const ExperimentRun& run);
    void setEarlier(const std::optional<ExperimentRun>& run);
    void addRow(const ExperimentRow& row);  // to the run that is shown

    /// Return the measured rows of a model and a strategy, by context, of the shown run and of the earlier one. `model`
    /// is its place in the shown run's plan; the earlier run's model is found by the name.
    QList<ExperimentRow> series(int model, Strategy::Name strategy) const;
    QList<ExperimentRow> earlierSeries(int model, Strategy::Name strategy) const;

Q_SIGNALS:
    void rowsChanged();

private:
    const ExperimentRow* earlierOf(const ExperimentCell& cell) const;
    QList<ExperimentRow> measuredOf(const ExperimentRun& run, int model, Strategy::Name strategy) const;

    ExperimentRun m_run;
    std::optional<ExperimentRun> m_earlier;
    Strategy::Name m_base = Strategy::CpuOnly;
    int m_chartedExperts = 0;
};
