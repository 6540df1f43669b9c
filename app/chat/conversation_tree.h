// ConversationTree holds a conversation's messages with all their versions.
#pragma once

#include "app/store/conversation.h"

#include <QHash>
#include <QList>
#include <QString>

/// The messages of one conversation as a tree, and the path through it that is shown. Messages with the same parent are
/// versions of each other; each remembers which of the versions after it was looked at last. A plain value.
class ConversationTree
{
public:
    ConversationTree() = default;
    /// Shows the path through `leaf`, and from there on the newest versions. Messages that cannot be placed (the
    /// same id twice, no such parent before them) are left out.
    explicit ConversationTree(const QList<StoredMessage>& messages, const QString& leaf = {});

    bool isEmpty() const { return m_nodes.isEmpty(); }
    qsizetype size() const { return m_nodes.size(); }
    /// Returns the message with this id. Null: there is none. The pointer is valid until the next add().
    const StoredMessage* find(const QString& id) const;
    StoredMessage* find(const QString& id);

    /// Adds the newest version of what follows `message.parent` and shows it. False, and nothing is added, when the id
    /// is empty or taken or there is no such parent.
    bool add(const StoredMessage& message);
    /// Removes the message that was added last. False: it is not this one.
    bool removeLast(const QString& id);

    QList<const StoredMessage*> path() const;  // oldest first
    QString leaf() const;                      // its last message; empty: there is none
    bool onPath(const QString& id) const;
    QList<const StoredMessage*> pathTo(const QString& id) const;  // from the first message to this one
    void showPathThrough(const QString& id);

    int version(const QString& id) const;  // from 1
    int versionCount(const QString& id) const;
    QList<const StoredMessage*> after(const QString& id) const;  // the versions of what follows it, oldest first
    /// Shows the version `step` further than this message, with what was last looked at below it. False: there is none.
    bool showVersion(const QString& id, int step);

    QList<StoredMessage> messages() const;                           // in the order they were made
    int number(const QString& id) const { return indexOf(id) + 1; }  // its place among them, from 1; 0: none
    const StoredMessage* numbered(int number) const;                 // null: there is none

private:
    struct Node {
        StoredMessage message;
        int parent = -1;
        QList<int> children = {};
        int shown = -1;  // the child on the path through here; -1: none
    };

    bool place(const StoredMessage& message);
    int indexOf(const QString& id) const { return m_indexes.value(id, -1); }
    const QList<int>& versionsOf(int index) const;
    int& shownBelow(int parent) { return parent < 0 ? m_shownFirst : m_nodes[parent].shown; }
    int shownBelow(int parent) const { return parent < 0 ? m_shownFirst : m_nodes[parent].shown; }

    QList<Node> m_nodes;
    QHash<QString, int> m_indexes;  // by id
    QList<int> m_first;             // versions of the first message
    int m_shownFirst = -1;
};
