// AttachmentFolder keeps attached files outside the database.
#pragma once

#include "app/store/conversation.h"

#include <QSet>

class QSqlError;

/// Names the folder that holds attached files by their SHA-256, in folders of its first two digits, each with the text
/// that was taken out of it beside it. A value, for any thread.
class AttachmentFolder
{
public:
    AttachmentFolder() = default;
    explicit AttachmentFolder(const QString& path)
        : m_path(path)
    {
    }

    QString path() const { return m_path; }
    QString file(const QString& sha256) const;  // path of the file's bytes; empty: that is no hash
    /// Writes the text of each attachment, unless there is one already. An error: a file could not be written.
    QSqlError keepTexts(const QList<Attachment>& attachments) const;
    QString text(const Attachment& attachment) const;
    /// Call it when a new database is made: the files that are here belong to an earlier one, and removeUnused() leaves
    /// each until the new one has used it, too. An error: their names could not be written down.
    QSqlError keepAll() const;
    /// Removes files whose hashes are not in `used`, once they are a day old: a younger one may belong to a message
    /// that was not sent yet.
    void removeUnused(const QSet<QString>& used) const;

private:
    QString keptNames() const { return m_path + QLatin1String("-kept.txt"); }  // list of keepAll(), one hash a line
    QString textFile(const Attachment& attachment) const;                      // empty: its values are not ours

    QString m_path;
};
