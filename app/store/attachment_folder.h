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
    /// Removes files under other names than those in `used`, once they are a day old: a younger one may belong to a
    /// message that was not sent yet.
    void removeUnused(const QSet<QString>& used) const;

private:
    QString textFile(const Attachment& attachment) const;  // empty: the attachment's values are nobody's

    QString m_path;
};
