// AttachmentFolder keeps attached files outside the database.
#pragma once

#include "app/store/conversation.h"

#include <QSet>

class QSqlError;

/// The folder that holds attached files under their SHA-256, in folders of its first two digits, each with the text
/// that was taken out of it beside it. A value; what it does to files may happen on any thread.
class AttachmentFolder
{
public:
    AttachmentFolder() = default;
    explicit AttachmentFolder(const QString& path)
        : m_path(path)
    {
    }

    QString path() const { return m_path; }
    QString file(const QString& sha256) const;  // where its bytes are; empty: that is no hash
    /// Keeps the text of each attachment; one that is there already stays. An error: a file could not be written.
    QSqlError keepTexts(const QList<Attachment>& attachments) const;
    QString text(const Attachment& attachment) const;
    /// Call it when another database begins here: what lies here by now is another one's, and stays until this one uses
    /// it, too. An error: that could not be noted.
    QSqlError keepAll() const;
    /// Removes files under other names than those in `used`, once they are a day old: a younger one may belong to a
    /// message that was not sent yet.
    void removeUnused(const QSet<QString>& used) const;

private:
    QString keptNames() const { return m_path + QLatin1String("-kept.txt"); }  // those of keepAll(), a line each
    QString textFile(const Attachment& attachment) const;  // empty: the attachment's values are nobody's

    QString m_path;
};
