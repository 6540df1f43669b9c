// ExperimentRunner measures the cells of a plan, each in a process of its own.
#pragma once

#include "app/experiments/experiment.h"
#include "app/experiments/experiment_shape.h"

#include <QByteArray>
#include <QElapsedTimer>
#include <QObject>
#include <QProcess>
#include <QStringList>
#include <QTimer>

#include <memory>
#include <optional>

/// Runs one `spillway-cli bench --json` after another and makes a row of each, also of one that fails. At most one
/// child runs; it ends with cancel() and with this object. A shape's file is made once, before the first of its rows.
/// Lives on the UI thread, where no call waits but the destructor.
class ExperimentRunner : public QObject
{
    Q_OBJECT

public:
    /// `program`: the path of spillway-cli, or of what replaces it in a test.
    explicit ExperimentRunner(QString program, QObject* parent = nullptr);
    ~ExperimentRunner() override;

    /// Finds spillway-cli beside this program, or where the build put it; empty: it is in neither place.
    static QString findProgram();
    /// Returns the child's arguments for a cell. `file`: the model's, or the one made of its shape.
    static QStringList arguments(const ExperimentPlan& plan, const ExperimentCell& cell, const QString& file);

    /// Begins to measure. False: a plan is being measured already, or this one has no cells.
    bool start(const ExperimentPlan& plan);
    /// Ends the child; its row is the last, with the outcome Cancelled.
    void cancel();

    bool running() const { return m_running; }
    qsizetype done() const { return m_done; }
    qsizetype total() const { return m_cells.size(); }
    /// Returns the cell that is being measured.
    std::optional<ExperimentCell> current() const;
    /// Returns which share of its shape's file has been made, 0 to 1; empty: none is being made.
    std::optional<double> madeShare() const;
    /// Returns how long the rest will take, estimated by the rows so far; empty: none of them was measured.
    std::optional<double> remainingSeconds() const;

Q_SIGNALS:
    void rowStarted();
    void rowFinished(const ExperimentRow& row);
    void finished(bool cancelled);

private:
    void startNext();
    void startChild();
    void onShapeFailed(const QString& sentence);
    void onOutput();
    void onErrors();
    void onFinished(int exitCode, QProcess::ExitStatus status);
    void onProcessError(QProcess::ProcessError error);
    void end(Outcome::Kind outcome, const QString& sentence);
    ExperimentRow rowWithout(Outcome::Kind outcome, const QString& sentence) const;
    void finishRow(ExperimentRow row);
    void dropProcess();

    QString m_program;
    ExperimentShape m_shape;
    ExperimentPlan m_plan;
    QList<ExperimentCell> m_cells;
    qsizetype m_done = 0;
    bool m_running = false;
    std::unique_ptr<QProcess> m_process;
    QByteArray m_out, m_errors;
    QTimer m_limit;
    QElapsedTimer m_clock;                  // since the row's child was started
    std::optional<Outcome::Kind> m_ending;  // the outcome for which the child was told to end; empty: it was not
    QString m_endingSentence;
    double m_measuredSeconds = 0, m_measuredWork = 0;  // of the rows that gave numbers
};
