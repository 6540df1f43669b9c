#include "app/exchange/foreign.h"

#include "app/exchange/import_text.h"
#include "app/store/conversation_title.h"

#include <QJsonObject>

#include <algorithm>
#include <cmath>
#include <utility>

namespace foreign {

namespace {

constexpr qsizetype kLongestLine_chars = 500;
constexpr double kLatest_ms = 1e14;  // in the year 5138
constexpr double kLatest_s = 1e11;   // the same year; a larger number has to be in milliseconds

void complete(StoredConversation& conversation, const QString& program)
{
    ConversationHeader& header = conversation.header;
    const QList<StoredMessage>& messages = conversation.messages;
    header.titleByUser = !header.title.isEmpty();
    if (header.title.isEmpty())
        header.title = titleOf(QString(messages.first().text).remove(kLeftOut));
    if (header.leaf.isEmpty())
        header.leaf = messages.last().id;
    if (header.createdMs == 0)
        header.createdMs = messages.first().createdMs;
    for (const StoredMessage& message : messages)
        header.changedMs = std::max(header.changedMs, message.createdMs);
    if (header.settings.systemPrompt.size() > kLongestMessage_chars)
        header.settings.systemPrompt.clear();
    if (header.id.isEmpty())  // its beginning tells it from others
        header.id = QString::number(header.createdMs) + QLatin1Char('\n') + messages.first().text;
    header.id = idHere(program, header.id);
}

}  // namespace

QJsonValue member(const QJsonValue& value, const char* name)
{
    return value.toObject().value(QLatin1String(name));
}

QString line(const QJsonValue& value)
{
    return value.toString().left(kLongestLine_chars).simplified();
}

qint64 milliseconds(const QJsonValue& value)
{
    const double time = value.toDouble();
    if (!std::isfinite(time) || time <= 0 || time > kLatest_ms)
        return 0;
    return qint64(time < kLatest_s ? time * 1e3 : time);
}

std::optional<StoredMessage::Role> roleOf(const QJsonValue& value)
{
    if (value.toString() == QLatin1String("user"))
        return StoredMessage::Role::User;
    return value.toString() == QLatin1String("assistant") ? std::optional(StoredMessage::Role::Assistant)
                                                          : std::nullopt;
}

void Words::add(QString& text, const QString& part)
{
    if (!text.isEmpty() && !part.isEmpty())
        text += QLatin1String("\n\n");
    text += part;
}

void Words::add(const Words& more)
{
    say(more.m_text);
    think(more.m_thoughts);
}

QString Words::text() const
{
    return m_thoughts.isEmpty() ? m_text : QStringLiteral("<think>\n%1\n</think>\n\n").arg(m_thoughts) + m_text;
}

Imported finished(const QString& program, QList<StoredConversation> conversations, int leftOut)
{
    conversations.removeIf([](const StoredConversation& conversation) { return conversation.messages.isEmpty(); });
    if (conversations.isEmpty())
        return {{}, ImportText::tr("This file holds no conversations.")};
    for (StoredConversation& conversation : conversations)
        complete(conversation, program);
    return {std::move(conversations), {}, leftOut};
}

Imported tooMany()
{
    return {{}, ImportText::tr("This file has too many messages.")};
}

}  // namespace foreign
