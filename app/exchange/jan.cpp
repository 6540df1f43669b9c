#include "app/exchange/jan.h"

#include "app/exchange/foreign.h"
#include "app/store/sound_conversation.h"

#include <QHash>
#include <QJsonArray>
#include <QJsonObject>
#include <QSet>

#include <algorithm>
#include <utility>
#include <vector>

using foreign::member;
using foreign::Words;

namespace {

using Role = StoredMessage::Role;

/// Returns the type of a part. The member's name depends on which half of Jan wrote the line.
QString typeOf(const QJsonValue& part)
{
    const QString type = member(part, "type").toString();
    return type.isEmpty() ? member(part, "type_").toString() : type;
}

bool isMessage(const QJsonObject& object)
{
    return object.value(QLatin1String("object")).toString() == QLatin1String("thread.message");
}

/// Returns the next line of `bytes` without the white space around it; moves `from` behind it.
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
        const QString type = typeOf(part);
        const QString text = member(member(part, "text"), "value").toString();
        if (type == QLatin1String("text")) {
            words.say(text);
        } else if (type == QLatin1String("reasoning")) {
            words.think(text);
        } else {
            if (type != QLatin1String("tool_call"))
                words.leaveOut();
            ++leftOut;
        }
    }
    return words.text();
}

/// Holds a line's message, and what the line says of its place among the others.
struct Line {
    StoredMessage message;
    QJsonValue parent;    // the id of the one it follows; null: none, it is a first one; undefined: not said
    QString activeChild;  // the version of what follows that Jan shows; empty: the newest
};

Line lineOf(const QJsonObject& object, StoredMessage::Role role, int& leftOut)
{
    const QJsonValue about = object.value(QLatin1String("metadata"));
    return {.message = {.id = object.value(QLatin1String("id")).toString(),
                        .role = role,
                        .text = textOf(object.value(QLatin1String("content")).toArray(), leftOut),
                        .createdMs = foreign::milliseconds(object.value(QLatin1String("created_at")))},
            .parent = member(about, "parentId"),
            .activeChild = member(about, "activeChildId").toString()};
}

/// Sets the parent of each message: the one that the line names, or the line above if it names none that exists. The
/// latter are the lines of a thread without versions, an answer that a fault of Jan's cut off from its question, and
/// what followed a damaged line.
void linkLines(std::vector<Line>& lines)
{
    const bool versions =
        std::any_of(lines.begin(), lines.end(), [](const Line& line) { return !line.parent.isUndefined(); });
    QSet<QString> ids;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        QString& id = lines[i].message.id;
        if (!versions || id.isEmpty())
            id = QString::number(i);
        ids.insert(id);
    }
    QString above;
    for (auto& [message, parent, activeChild] : lines) {
        const bool first = parent.isNull() && message.role == Role::User;
        if (!first)
            message.parent = ids.contains(parent.toString()) ? parent.toString() : above;
        above = message.id;
    }
}

/// Returns the last message of the path that Jan shows, in a sound tree.
QString shownLeaf(const QList<StoredMessage>& messages, const QHash<QString, QString>& activeChildren)
{
    QHash<QString, const StoredMessage*> shown;  // by the parent's id
    for (const StoredMessage& message : messages) {
        const StoredMessage*& chosen = shown[message.parent];
        const QString active = activeChildren.value(message.parent);
        const bool newest = !chosen || (chosen->id != active && message.createdMs >= chosen->createdMs);
        if (newest || message.id == active)
            chosen = &message;
    }
    QString leaf;
    while (const StoredMessage* const next = shown.value(leaf))
        leaf = next->id;
    return leaf;
}

/// Makes the conversation's tree of the lines that have text. What follows a line without text becomes a child of that
/// line's parent.
void takeIn(std::vector<Line> lines, StoredConversation& conversation, int& leftOut)
{
    linkLines(lines);
    StoredConversation all;
    QHash<QString, QString> activeChildren;
    for (Line& line : lines) {
        activeChildren.insert(line.message.id, line.activeChild);
        all.messages.append(std::move(line.message));
    }
    makeSound(all);
    leftOut += int(lines.size()) - int(all.messages.size());  // lines with an id that another has
    const QString shown = shownLeaf(all.messages, activeChildren);
    QHash<QString, QString> places;  // for each line's id the message with text that it is or follows
    for (StoredMessage& message : all.messages) {
        message.parent = places.value(message.parent);
        places.insert(message.id, message.text.isEmpty() ? message.parent : message.id);
    }
    conversation.header.leaf = places.value(shown);
    all.messages.removeIf([](const StoredMessage& message) { return message.text.isEmpty(); });
    conversation.messages = std::move(all.messages);
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
    std::vector<Line> lines;
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
        if (qsizetype(lines.size()) == foreign::kMostMessages)
            return foreign::tooMany();
        lines.push_back(lineOf(object, *role, leftOut));
        if (header.id.isEmpty())
            header.id = object.value(QLatin1String("thread_id")).toString();
    }
    takeIn(std::move(lines), conversation, leftOut);
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
