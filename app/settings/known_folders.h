// KnownFolders remembers which folders existed when they were last looked at.
#pragma once

#include <QObject>
#include <QSet>
#include <QStringList>

/// Looks at folders on other threads, since one may be on a share that does not answer. Lives on the UI thread.
class KnownFolders : public QObject
{
public:
    /// Looks whether the folders exist, each in a job of its own. The results come later.
    void lookAt(const QStringList& folders);
    /// Notes a folder that is known to exist.
    void note(const QString& folder) { m_there.insert(folder); }
    /// Returns the first of these folders that existed; empty: none did.
    QString firstOf(const QStringList& folders) const;

private:
    QSet<QString> m_there, m_asked;  // m_asked: those that have not answered yet
};
