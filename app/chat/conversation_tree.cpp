#include "app/chat/conversation_tree.h"

#include <algorithm>

ConversationTree::ConversationTree(const QList<StoredMessage>& messages, const QString& leaf)
{
    m_nodes.reserve(messages.size());
    for (const StoredMessage& message : messages)
        place(message);
    showPathThrough(leaf);
}

const StoredMessage* ConversationTree::find(const QString& id) const
{
    const int index = indexOf(id);
    return index < 0 ? nullptr : &m_nodes[index].message;
}

StoredMessage* ConversationTree::find(const QString& id)
{
    const int index = indexOf(id);
    return index < 0 ? nullptr : &m_nodes[index].message;
}

bool ConversationTree::add(const StoredMessage& message)
{
    if (!place(message))
        return false;
    showPathThrough(message.id);
    return true;
}

bool ConversationTree::removeLast(const QString& id)
{
    if (m_nodes.isEmpty() || m_nodes.last().message.id != id)
        return false;
    const int parent = m_nodes.last().parent;
    QList<int>& versions = parent < 0 ? m_first : m_nodes[parent].children;
    versions.removeLast();  // the newest of them
    shownBelow(parent) = versions.isEmpty() ? -1 : versions.last();
    m_indexes.remove(id);
    m_nodes.removeLast();
    return true;
}

bool ConversationTree::place(const StoredMessage& message)
{
    const int parent = message.parent.isEmpty() ? -1 : indexOf(message.parent);
    const bool lost = !message.parent.isEmpty() && parent < 0;
    if (message.id.isEmpty() || m_indexes.contains(message.id) || lost)
        return false;
    const int index = int(m_nodes.size());
    m_nodes.append({message, parent});
    m_indexes.insert(message.id, index);
    (parent < 0 ? m_first : m_nodes[parent].children).append(index);
    shownBelow(parent) = index;
    return true;
}

QList<const StoredMessage*> ConversationTree::path() const
{
    QList<const StoredMessage*> path;
    for (int at = m_shownFirst; at >= 0; at = m_nodes[at].shown)
        path.append(&m_nodes[at].message);
    return path;
}

const StoredMessage* ConversationTree::numbered(int number) const
{
    return number >= 1 && number <= m_nodes.size() ? &m_nodes[number - 1].message : nullptr;
}

QString ConversationTree::leaf() const
{
    int last = -1;
    for (int at = m_shownFirst; at >= 0; at = m_nodes[at].shown)
        last = at;
    return last < 0 ? QString() : m_nodes[last].message.id;
}

bool ConversationTree::onPath(const QString& id) const
{
    int at = indexOf(id);
    if (at < 0)
        return false;
    while (at >= 0) {
        if (shownBelow(m_nodes[at].parent) != at)
            return false;
        at = m_nodes[at].parent;
    }
    return true;
}

QList<const StoredMessage*> ConversationTree::pathTo(const QString& id) const
{
    QList<const StoredMessage*> path;
    for (int at = indexOf(id); at >= 0; at = m_nodes[at].parent)
        path.append(&m_nodes[at].message);
    std::reverse(path.begin(), path.end());
    return path;
}

void ConversationTree::showPathThrough(const QString& id)
{
    for (int at = indexOf(id); at >= 0; at = m_nodes[at].parent)
        shownBelow(m_nodes[at].parent) = at;
}

int ConversationTree::version(const QString& id) const
{
    const int index = indexOf(id);
    return index < 0 ? 0 : int(versionsOf(index).indexOf(index)) + 1;
}

int ConversationTree::versionCount(const QString& id) const
{
    const int index = indexOf(id);
    return index < 0 ? 0 : int(versionsOf(index).size());
}

QList<const StoredMessage*> ConversationTree::after(const QString& id) const
{
    QList<const StoredMessage*> versions;
    if (const int index = indexOf(id); index >= 0)
        for (const int child : m_nodes[index].children)
            versions.append(&m_nodes[child].message);
    return versions;
}

bool ConversationTree::showVersion(const QString& id, int step)
{
    const int index = indexOf(id);
    if (index < 0)
        return false;
    const QList<int>& versions = versionsOf(index);
    const qsizetype wanted = versions.indexOf(index) + step;
    if (wanted < 0 || wanted >= versions.size())
        return false;
    showPathThrough(m_nodes[versions[wanted]].message.id);
    return true;
}

QList<StoredMessage> ConversationTree::messages() const
{
    QList<StoredMessage> messages;
    messages.reserve(m_nodes.size());
    for (const Node& node : m_nodes)
        messages.append(node.message);
    return messages;
}

const QList<int>& ConversationTree::versionsOf(int index) const
{
    const int parent = m_nodes[index].parent;
    return parent < 0 ? m_first : m_nodes[parent].children;
}
