#include "app/exchange/imported.h"

#include "app/exchange/conversation_json.h"
#include "app/exchange/conversation_markdown.h"
#include "app/ordinary_file.h"

#include <QCoreApplication>
#include <QCryptographicHash>
#include <QDateTime>
#include <QFile>
#include <QFileInfo>
#include <QHash>
#include <QUuid>

#include <algorithm>
#include <exception>
#include <new>

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

Imported read(const QString& path)
{
    const QString name = QFileInfo(path).fileName();
    QFile file(path);
    if (const QString why = openOrdinary(file); !why.isEmpty())
        return {{}, Text::tr("%1 cannot be read: %2.").arg(name, why)};
    if (file.size() > kLargestImport_bytes)
        return {{}, Text::tr("%1 is larger than 256 MB and was not read.").arg(name)};
    const QByteArray bytes = file.read(kLargestImport_bytes + 1);  // it may have grown since
    if (bytes.size() > kLargestImport_bytes)
        return {{}, Text::tr("%1 is larger than 256 MB and was not read.").arg(name)};
    const QByteArray start = bytes.left(1024).trimmed();
    return start.startsWith('{') || start.startsWith('[') ? fromJson(bytes) : fromMarkdown(bytes);
}

/// Whatever the file was: nothing that is kept may be longer than what can be kept.
bool hasTooLongMessage(const StoredConversation& conversation)
{
    return std::any_of(conversation.messages.begin(), conversation.messages.end(),
                       [](const StoredMessage& message) { return message.text.size() > kLongestMessage_chars; });
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
    const QString name = QFileInfo(path).fileName();
    try {
        Imported imported = read(path);
        for (StoredConversation& conversation : imported.conversations) {
            if (hasTooLongMessage(conversation))
                return {{}, Text::tr("Nothing was imported, since a message in %1 is too long.").arg(name)};
            renewIds(conversation);
        }
        return imported;
    } catch (const std::bad_alloc&) {  // on a thread of a pool it would end the program
        return {{}, Text::tr("%1 cannot be read: %2.").arg(name, Text::tr("there is not enough memory"))};
    } catch (const std::exception& thrown) {
        return {{}, Text::tr("%1 cannot be read: %2.").arg(name, QString::fromLocal8Bit(thrown.what()))};
    }
}
