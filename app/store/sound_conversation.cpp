#include "app/store/sound_conversation.h"

#include <QHash>
#include <QSet>

#include <utility>

namespace {

using Children = QHash<QString, QList<qsizetype>>;

/// Appends the message at `root` and all below it, without recursion: a tree may be as deep as it is long.
void appendTree(qsizetype root, const QList<StoredMessage>& from, const Children& children, QList<bool>& taken,
                QList<StoredMessage>& to)
{
    QList<qsizetype> waiting{root};
    while (!waiting.isEmpty()) {
        const qsizetype next = waiting.takeLast();
        if (std::exchange(taken[next], true))
            continue;
        to.append(from[next]);
        waiting += children.value(from[next].id);
    }
}

bool inOrder(const QList<StoredMessage>& messages)
{
    QSet<QString> known;
    for (const StoredMessage& message : messages) {
        if (message.id.isEmpty() || known.contains(message.id))
            return false;
        if (!message.parent.isEmpty() && !known.contains(message.parent))
            return false;
        known.insert(message.id);
    }
    return true;
}

QList<StoredMessage> reordered(QList<StoredMessage> messages)
{
    QHash<QString, qsizetype> places;
    QList<bool> taken(messages.size(), false);
    for (qsizetype i = 0; i < messages.size(); ++i) {
        if (messages[i].id.isEmpty() || places.contains(messages[i].id))
            taken[i] = true;  // marks one that is left out
        else
            places.insert(messages[i].id, i);
    }
    Children children;
    for (qsizetype i = messages.size() - 1; i >= 0; --i) {  // backwards: the last child is taken first
        if (!places.contains(messages[i].parent))
            messages[i].parent.clear();
        else if (!taken[i])
            children[messages[i].parent].append(i);
    }
    QList<StoredMessage> sound;
    for (qsizetype i = 0; i < messages.size(); ++i)
        if (messages[i].parent.isEmpty())
            appendTree(i, messages, children, taken, sound);
    for (qsizetype i = 0; i < messages.size(); ++i) {
        if (taken[i])
            continue;
        messages[i].parent.clear();  // messages that are left lie in or below a circle of parents
        appendTree(i, messages, children, taken, sound);
    }
    return sound;
}

}  // namespace

void makeSound(StoredConversation& conversation)
{
    QList<StoredMessage>& messages = conversation.messages;
    if (!inOrder(messages))
        messages = reordered(std::move(messages));
    const bool leafThere = std::any_of(messages.begin(), messages.end(), [&](const StoredMessage& message) {
        return message.id == conversation.header.leaf;
    });
    if (!leafThere)
        conversation.header.leaf = messages.isEmpty() ? QString() : messages.last().id;
}
