#include "app/exchange/imported.h"

#include "app/exchange/conversation_json.h"
#include "app/exchange/conversation_markdown.h"

#include <QCoreApplication>
#include <QCryptographicHash>
#include <QDateTime>
#include <QFile>
#include <QFileInfo>
#include <QHash>
#include <QUuid>

namespace {

/// For texts outside a class.
struct Text {
    Q_DECLARE_TR_FUNCTIONS(Import)
};

QString newId()
{
    return QUuid::createUuid().toString(QUuid::WithoutBraces);
}

/// The files themselves did not come along, so the text taken out of each stands for it.
void standIn(Attachment& attachment)
{
    const QByteArray text = attachment.text.toUtf8();
    attachment.id = newId();
    attachment.sha256 = QString::fromLatin1(QCryptographicHash::hash(text, QCryptographicHash::Sha256).toHex());
    attachment.bytes = text.size();
}

}  // namespace

void renewIds(StoredConversation& conversation)
{
    QHash<QString, QString> ids;
    conversation.header.id = newId();
    for (StoredMessage& message : conversation.messages) {
        const QString id = newId();
        ids.insert(message.id, id);
        message.id = id;
        message.parent = ids.value(message.parent);
        for (Attachment& attachment : message.attachments)
            standIn(attachment);
    }
    conversation.header.leaf = ids.value(conversation.header.leaf);
    if (conversation.header.changedMs == 0)
        conversation.header.changedMs = QDateTime::currentMSecsSinceEpoch();
}

Imported importFile(const QString& path)
{
    if (const QFileInfo info(path); info.exists() && !info.isFile())  // opening a pipe could wait for ever
        return {{}, Text::tr("%1 cannot be read: %2.").arg(info.fileName(), Text::tr("it is not an ordinary file"))};
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return {{}, Text::tr("%1 cannot be read: %2.").arg(QFileInfo(path).fileName(), file.errorString())};
    if (file.size() > kLargestImport_bytes)
        return {{}, Text::tr("%1 is larger than 256 MB and was not read.").arg(QFileInfo(path).fileName())};
    const QByteArray bytes = file.read(kLargestImport_bytes + 1);  // it may have grown since
    if (bytes.size() > kLargestImport_bytes)
        return {{}, Text::tr("%1 is larger than 256 MB and was not read.").arg(QFileInfo(path).fileName())};

    const QByteArray start = bytes.left(1024).trimmed();
    Imported imported = start.startsWith('{') || start.startsWith('[') ? fromJson(bytes) : fromMarkdown(bytes);
    for (StoredConversation& conversation : imported.conversations)
        renewIds(conversation);
    return imported;
}
