// KnownFolders remembers which folders were there when somebody looked last.
#pragma once

#include <QObject>
#include <QSet>
#include <QStringList>

/// Looks on other threads, since a folder may be on a share that does not answer. Lives on the UI thread.
class KnownFolders : public QObject
{
public:
    /// Looks whether they are there, each by itself. What is found counts from some later moment on.
    void lookAt(const QStringList& folders);
    /// Takes note of one that is there, as somebody else has seen.
    void note(const QString& folder) { m_there.insert(folder); }
    /// Returns the first of them that was there; empty: none was.
    QString firstOf(const QStringList& folders) const;

private:
    QSet<QString> m_there, m_asked;  // m_asked: those that have not answered yet
};
