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
    /// The folder is made with the first run.
    explicit ExperimentStore(QString folder);

    /// The newest first. Files that are none are left alone and counted.
    QList<ExperimentRun> runs();
    int unreadable() const { return m_unreadable; }

    /// An id for a run that begins: nobody else's.
    QString newId() const;
    QString save(const ExperimentRun& run) const;
    QString remove(const QString& id) const;

    static constexpr int kMostRuns = 500;  // that are read: the newest by their names

private:
    QString fileOf(const QString& id) const;  // empty: that is no id

    QString m_folder;
    int m_unreadable = 0;
};
