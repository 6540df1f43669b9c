// DraftChoices remembers which small model guesses for which large one.
#pragma once

#include <QHash>
#include <QString>

/// Keeps the choices in one JSON file, which is written at each choice; a damaged file counts as empty. Lives on the UI
/// thread; owned by DraftModels.
class DraftChoices
{
public:
    /// `file` empty: the choices are not written.
    explicit DraftChoices(QString file);

    /// Returns the path of the model that guesses for this one; empty: none does.
    QString of(const QString& path) const { return m_draftOf.value(path); }
    void choose(const QString& path, const QString& draft);

private:
    void save() const;

    QString m_file;
    QHash<QString, QString> m_draftOf;  // by the path of the model
};
