// planRemoval() says what deleting a model takes from the disk and what else uses that; removeModel() does it.
#pragma once

#include "app/catalogue/folder_walk.h"
#include "app/catalogue/model_entry.h"

#include <QList>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QtQml/qqmlregistration.h>

/// Says what deleting a model takes from the disk, as a value for the pages. What is shown has been made safe to show.
class ModelRemoval
{
    Q_GADGET
    QML_VALUE_TYPE(modelRemoval)
    Q_PROPERTY(QString id MEMBER id CONSTANT)
    Q_PROPERTY(QString title MEMBER title CONSTANT)
    Q_PROPERTY(int fileCount READ fileCount CONSTANT)
    Q_PROPERTY(QStringList shownFiles READ shownFiles CONSTANT)
    Q_PROPERTY(double bytes MEMBER bytes CONSTANT)
    Q_PROPERTY(QStringList notes MEMBER notes CONSTANT)

public:
    bool operator==(const ModelRemoval&) const = default;
    int fileCount() const { return int(files.size()); }
    /// Returns the names of the first few files.
    QStringList shownFiles() const;

    QString id;  // of its row; empty: nothing is to be deleted
    QString title;
    QString path;       // as it is opened
    QStringList files;  // files that are deleted; none is a link
    QStringList names;  // links that are deleted
    double bytes = 0;   // of the files
    QStringList notes;  // what else uses it, a sentence each
    QString obstacle;   // why nothing may be deleted, one sentence; empty: it may
};
Q_DECLARE_METATYPE(ModelRemoval)

/// Plans what is deleted: all parts of a split model; in a Hugging Face cache the file with all links to it; where the
/// model is a link from elsewhere, the link alone. `folders`: where other links to it are looked for, to say that they
/// would lead to nothing. Only reads the disk; any thread.
ModelRemoval planRemoval(const ModelEntry& entry, const QStringList& folders, const WalkLimits& limits);

/// Deletes the files and links of a plan, and nothing else. Ends at the first that cannot be deleted and returns a
/// sentence about it; empty: all are deleted. Any thread.
QString removeModel(const ModelRemoval& removal);
