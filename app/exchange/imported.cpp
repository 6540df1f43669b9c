#include "app/exchange/imported.h"

#include "app/exchange/chatgpt.h"
#include "app/exchange/conversation_json.h"
#include "app/exchange/conversation_markdown.h"
#include "app/exchange/import_text.h"
#include "app/exchange/jan.h"
#include "app/exchange/lm_studio.h"
#include "app/store/well_formed.h"
#include "app/system/ordinary_file.h"

#include <QCryptographicHash>
#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QHash>
#include <QUuid>

#include <algorithm>
#include <exception>
#include <initializer_list>
#include <new>
#include <utility>

namespace {

QString plain(const QUuid& id)
{
    return id.toString(QUuid::WithoutBraces);
}

QString newId()
{
    return plain(QUuid::createUuid());
}

QString digestOf(const QByteArray& bytes)
{
    return QString::fromLatin1(QCryptographicHash::hash(bytes, QCryptographicHash::Sha256).toHex());
}

/// Makes an attachment's text stand for its file, which is not part of an import.
void standIn(Attachment& attachment)
{
    const QByteArray text = attachment.text.toUtf8();
    attachment.id = newId();
    attachment.sha256 = digestOf(text);
    attachment.bytes = text.size();
}

/// The namespace of the ids that idHere() makes, since other programs' ids may be of any form.
const QUuid kNamespace(QStringLiteral("7f0a6f5e-3a57-5d0c-9d1b-6f1f0f5a4b21"));

struct Bytes {
    QByteArray bytes;
    QString error;  // empty: none
};

Bytes bytesOf(const QString& path)
{
    const QString name = QFileInfo(path).fileName();
    QFile file(path);
    if (const QString why = openOrdinary(file); !why.isEmpty())
        return {{}, ImportText::tr("%1 cannot be read: %2.").arg(name, why)};
    QByteArray bytes = file.size() > kLargestImport_bytes ? QByteArray() : file.read(kLargestImport_bytes + 1);
    if (file.size() > kLargestImport_bytes || bytes.size() > kLargestImport_bytes)  // it may have grown since
        return {{}, ImportText::tr("%1 is larger than 256 MB and was not read.").arg(name)};
    if (bytes.startsWith("\xEF\xBB\xBF"))  // the mark of UTF-8, as editors of Windows write it
        bytes.remove(0, 3);
    return {std::move(bytes), {}};
}

QString beside(const QString& path, const char* name)
{
    return QFileInfo(path).dir().filePath(QLatin1String(name));
}

Imported readJson(const QString& path, const QByteArray& bytes, const std::stop_token& stop)
{
    if (isJanMessages(bytes))  // each line is JSON, the whole is not
        return fromJan(bytes, QJsonDocument::fromJson(bytesOf(beside(path, kJanThread)).bytes));
    QJsonParseError parse;
    const QJsonDocument document = QJsonDocument::fromJson(bytes, &parse);
    if (parse.error != QJsonParseError::NoError)
        return {{}, ImportText::tr("This file is damaged: it is not JSON from byte %1 on.").arg(parse.offset)};
    if (isJanThread(document)) {
        const Bytes messages = bytesOf(beside(path, kJanMessages));
        return messages.error.isEmpty() ? fromJan(messages.bytes, document) : Imported{{}, messages.error};
    }
    if (isOfLmStudio(document))
        return fromLmStudio(document);
    return isOfChatGpt(document) ? fromChatGpt(document, stop) : fromJson(document, stop);
}

Imported readMarkdown(const QByteArray& bytes)
{
    Imported imported = fromMarkdown(bytes);
    for (StoredConversation& conversation : imported.conversations)  // Markdown has no id, so all of it makes one
        conversation.header.id = idHere(QStringLiteral("markdown"), digestOf(bytes));
    return imported;
}

Imported read(const QString& path, const std::stop_token& stop)
{
    const auto [bytes, error] = bytesOf(path);
    if (!error.isEmpty())
        return {{}, error};
    if (bytes.startsWith("PK\3\4"))
        return {{},
                ImportText::tr("%1 is a zip archive: unpack it and import the JSON files in it.")
                    .arg(QFileInfo(path).fileName())};
    const QByteArray start = bytes.left(1024).trimmed();
    return start.startsWith('{') || start.startsWith('[') ? readJson(path, bytes, stop) : readMarkdown(bytes);
}

/// Says whether a message is longer than the store can keep.
bool hasTooLongMessage(const StoredConversation& conversation)
{
    return std::any_of(conversation.messages.begin(), conversation.messages.end(),
                       [](const StoredMessage& message) { return message.text.size() > kLongestMessage_chars; });
}

/// Mends texts that hold half a character: the store would keep them as other texts, so that the same file would not be
/// recognised when it is imported again.
void makeWellFormed(StoredConversation& conversation)
{
    const auto mend = [](std::initializer_list<QString*> texts) {
        for (QString* const text : texts)
            *text = wellFormed(std::move(*text));
    };
    ConversationHeader& header = conversation.header;
    mend({&header.title, &header.folder, &header.draft, &header.settings.systemPrompt, &header.settings.preset});
    for (StoredMessage& message : conversation.messages) {
        mend({&message.text, &message.sentence, &message.model});
        for (Attachment& attachment : message.attachments)
            mend({&attachment.name, &attachment.text});
    }
}

/// Makes a conversation fit for the store: its id can be a file name, messages get new ids, no time is in the future.
void settle(StoredConversation& conversation)
{
    makeWellFormed(conversation);
    ConversationHeader& header = conversation.header;
    const QUuid known(header.id);
    header.id = !known.isNull()       ? plain(known)
                : header.id.isEmpty() ? newId()
                                      : idHere(QStringLiteral("spillway"), header.id);
    QHash<QString, QString> ids;
    for (StoredMessage& message : conversation.messages) {
        const QString id = newId();
        ids.insert(message.id, id);
        message.id = id;
        message.parent = ids.value(message.parent);
        for (Attachment& attachment : message.attachments)
            standIn(attachment);
    }
    header.leaf = ids.value(header.leaf);
    const qint64 now = QDateTime::currentMSecsSinceEpoch();
    if (header.changedMs <= 0 || header.changedMs > now)
        header.changedMs = now;
}

}  // namespace

QString idHere(const QString& program, const QString& id)
{
    return plain(QUuid::createUuidV5(kNamespace, program + QLatin1Char('/') + id));
}

Imported importFile(const QString& path, const std::stop_token& stop)
{
    const QString name = QFileInfo(path).fileName();
    try {
        Imported imported = read(path, stop);
        for (StoredConversation& conversation : imported.conversations) {
            if (stop.stop_requested())
                return {};
            if (hasTooLongMessage(conversation))
                return {{}, ImportText::tr("Nothing was imported, since a message in %1 is too long.").arg(name)};
            settle(conversation);
        }
        return imported;
    } catch (const std::bad_alloc&) {  // on a thread of a pool it would end the program
        return {{}, ImportText::tr("%1 cannot be read: %2.").arg(name, ImportText::tr("there is not enough memory"))};
    } catch (const std::exception& thrown) {
        return {{}, ImportText::tr("%1 cannot be read: %2.").arg(name, QString::fromLocal8Bit(thrown.what()))};
    }
}
