// ExperimentStore keeps the runs of this profile, each in a file.
#pragma once

#include "app/experiments/experiment.h"

#include <QList>
#include <QString>

/// Reads and writes runs as JSON in one folder; a file is there whole or not at all. Each call that can fail returns a
/// sentence, empty when all went well. No thread of its own; files are small.
class ExperimentStore
{
public:
    /// `folder` is made when the first run is saved.
    explicit ExperimentStore(QString folder);

    /// Reads the runs, the newest first. Files that are no runs are left as they are and counted by unreadable().
    QList<ExperimentRun> runs();
    int unreadable() const { return m_unreadable; }

    /// Returns a new id for a run that begins.
    QString newId() const;
    QString save(const ExperimentRun& run) const;
    QString remove(const QString& id) const;

    static constexpr int kMostRuns = 500;  // this many are read, the newest by their names

private:
    QString fileOf(const QString& id) const;  // empty: this is no id

    QString m_folder;
    int m_unreadable = 0;
};
