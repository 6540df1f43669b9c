#include "app/exchange/jan.h"

#include "app/exchange/foreign.h"

#include <QJsonArray>
#include <QJsonObject>

#include <utility>

using foreign::member;
using foreign::Words;

namespace {

using Role = StoredMessage::Role;

/// The type of a part, whose name depends on which half of Jan wrote the line.
QString typeOf(const QJsonValue& part)
{
    const QString type = member(part, "type").toString();
    return type.isEmpty() ? member(part, "type_").toString() : type;
}

bool isMessage(const QJsonObject& object)
{
    return object.value(QLatin1String("object")).toString() == QLatin1String("thread.message");
}

/// The next line of `bytes` without the white space around it; `from` goes behind it.
QByteArray nextLine(const QByteArray& bytes, qsizetype& from)
{
    const qsizetype found = bytes.indexOf('\n', from);
    const qsizetype end = found < 0 ? bytes.size() : found;
    QByteArray line = bytes.mid(from, end - from).trimmed();
    from = end + 1;
    return line;
}

QString textOf(const QJsonArray& content, int& leftOut)
{
    Words words;
    for (const auto& part : content) {
        if (typeOf(part) == QLatin1String("text")) {
            words.say(member(member(part, "text"), "value").toString());
            continue;
        }
        words.leaveOut();
        ++leftOut;
    }
    return words.text();
}

}  // namespace

bool isJanMessages(const QByteArray& bytes)
{
    qsizetype from = 0;
    return isMessage(QJsonDocument::fromJson(nextLine(bytes, from)).object());
}

bool isJanThread(const QJsonDocument& document)
{
    return document.object().value(QLatin1String("object")).toString() == QLatin1String("thread");
}

Imported fromJan(const QByteArray& messages, const QJsonDocument& thread)
{
    StoredConversation conversation;
    ConversationHeader& header = conversation.header;
    int leftOut = 0;
    for (qsizetype from = 0; from < messages.size();) {
        const QByteArray line = nextLine(messages, from);
        if (line.isEmpty())
            continue;
        const QJsonObject object = QJsonDocument::fromJson(line).object();
        const auto role = foreign::roleOf(object.value(QLatin1String("role")));
        if (!isMessage(object) || !role) {
            ++leftOut;  // damaged, or a tool's
            continue;
        }
        const QString text = textOf(object.value(QLatin1String("content")).toArray(), leftOut);
        if (text.isEmpty())
            continue;
        if (conversation.messages.size() == foreign::kMostMessages)
            return foreign::tooMany();
        conversation.messages.append({.id = QString::number(conversation.messages.size()),
                                      .parent = header.leaf,
                                      .role = *role,
                                      .text = text,
                                      .createdMs = foreign::milliseconds(object.value(QLatin1String("created_at")))});
        header.leaf = conversation.messages.last().id;
        if (header.id.isEmpty())
            header.id = object.value(QLatin1String("thread_id")).toString();
    }
    const QJsonObject about = thread.object();
    const QJsonValue assistant = about.value(QLatin1String("assistants")).toArray().at(0);
    header.title = foreign::line(about.value(QLatin1String("title")));
    header.createdMs = foreign::milliseconds(about.value(QLatin1String("created")));
    header.changedMs = foreign::milliseconds(about.value(QLatin1String("updated")));
    header.settings.systemPrompt = member(assistant, "instructions").toString();
    const QString model = foreign::line(member(member(assistant, "model"), "id"));
    for (StoredMessage& message : conversation.messages)
        if (message.role == Role::Assistant)
            message.model = model;
    return foreign::finished(QStringLiteral("jan"), {std::move(conversation)}, leftOut);
}
