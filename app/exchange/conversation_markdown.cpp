#include "app/exchange/conversation_markdown.h"
#include "app/exchange/import_text.h"

#include <QDateTime>
#include <QHash>
#include <QRegularExpression>
#include <QStringList>

#include <algorithm>
#include <utility>

namespace {

constexpr qsizetype kMostHeadings = 100'000;

/// Returns the messages from the first to the leaf.
QList<const StoredMessage*> shownPath(const StoredConversation& conversation)
{
    QHash<QString, const StoredMessage*> byId;
    for (const StoredMessage& message : conversation.messages)
        byId.insert(message.id, &message);
    QList<const StoredMessage*> path;
    const StoredMessage* message = byId.value(conversation.header.leaf);
    while (message && path.size() < conversation.messages.size()) {
        path.prepend(message);
        message = byId.value(message->parent);
    }
    return path;
}

// Matches a line of a message that looks like one of our headings: it gets a backslash, which Markdown does not show.
const QRegularExpression& headingLike()
{
    static const QRegularExpression line(QStringLiteral("^(\\\\*)(## (?:User|Assistant|System)\\b)"),
                                         QRegularExpression::MultilineOption);
    return line;
}

QString escaped(QString text)
{
    return text.replace(headingLike(), QStringLiteral("\\\\1\\2"));
}

QString unescaped(QString text)
{
    static const QRegularExpression line(QStringLiteral("^\\\\(\\\\*## (?:User|Assistant|System)\\b)"),
                                         QRegularExpression::MultilineOption);
    return text.replace(line, QStringLiteral("\\1"));
}

QString section(const QString& heading, const QString& text)
{
    return QStringLiteral("\n## %1\n\n%2\n").arg(heading, escaped(text).trimmed());
}

QString withoutBlankEnds(const QStringList& lines)
{
    static const QRegularExpression blank(QStringLiteral("^\\n+|\\n+$"));
    return lines.join(QLatin1Char('\n')).remove(blank);
}

}  // namespace

QByteArray toMarkdown(const StoredConversation& conversation)
{
    const ConversationHeader& header = conversation.header;
    QString out = QStringLiteral("# %1\n").arg(header.title.isEmpty() ? ImportText::tr("Conversation")
                                                                      : header.title.simplified());
    if (!header.settings.systemPrompt.trimmed().isEmpty())
        out += section(QStringLiteral("System"), header.settings.systemPrompt);
    for (const StoredMessage* message : shownPath(conversation)) {
        const bool user = message->role == StoredMessage::Role::User;
        QString text = message->text;
        for (const Attachment& attachment : message->attachments)
            text += QStringLiteral("\n\n> %1").arg(ImportText::tr("Attached: %1").arg(attachment.name.simplified()));
        if (!message->sentence.isEmpty())
            text += QStringLiteral("\n\n> %1").arg(message->sentence.simplified());
        const QString who = user ? QStringLiteral("User")
                            : message->model.isEmpty()
                                ? QStringLiteral("Assistant")
                                : QStringLiteral("Assistant (%1)").arg(message->model.simplified());
        out += section(who, text);
    }
    return out.toUtf8();
}

Imported fromMarkdown(const QByteArray& bytes)
{
    static const QRegularExpression heading(QStringLiteral("^## (User|Assistant|System)(?: \\((.*)\\))?\\s*$"));
    StoredConversation conversation;
    const qint64 now = QDateTime::currentMSecsSinceEpoch();
    conversation.header.createdMs = conversation.header.changedMs = now;
    conversation.header.titleByUser = true;

    QStringList lines;  // of the section that is being read
    bool inSystem = false;
    const auto endSection = [&] {
        const QString text = unescaped(withoutBlankEnds(std::exchange(lines, {})));
        if (inSystem)
            conversation.header.settings.systemPrompt = text;
        else if (!conversation.messages.isEmpty())
            conversation.messages.last().text = text;
        inSystem = false;
    };
    QString all = QString::fromUtf8(bytes);
    all.replace(QLatin1String("\r\n"), QLatin1String("\n"));
    for (const QString& line : std::as_const(all).split(QLatin1Char('\n'))) {
        const QRegularExpressionMatch found = heading.match(line);
        if (!found.hasMatch()) {
            if (conversation.messages.isEmpty() && !inSystem && line.startsWith(QLatin1String("# ")))
                conversation.header.title = line.mid(2).simplified().left(500);
            lines << line;
            continue;
        }
        endSection();
        inSystem = found.captured(1) == QLatin1String("System");
        if (inSystem)
            continue;
        if (conversation.messages.size() == kMostHeadings)
            return {{}, ImportText::tr("This file has too many messages.")};
        StoredMessage message;
        message.id = QString::number(conversation.messages.size());
        message.parent = conversation.messages.isEmpty() ? QString() : conversation.messages.last().id;
        message.role =
            found.captured(1) == QLatin1String("User") ? StoredMessage::Role::User : StoredMessage::Role::Assistant;
        message.model = found.captured(2).left(500);
        message.createdMs = now;
        conversation.messages.append(message);
    }
    endSection();
    if (conversation.messages.isEmpty())
        return {{},
                ImportText::tr("This is not a conversation: it has neither the JSON of one nor a heading '## User'.")};
    conversation.header.leaf = conversation.messages.last().id;
    return {{conversation}, {}};
}
