// Unwritten holds the changes that are on their way to the database.
#pragma once

#include "app/store/conversation.h"

#include <QStringList>

#include <deque>
#include <functional>

/// Holds changes that may not be on disk yet, so that reads can apply them without waiting. A value; on the store's
/// thread.
class Unwritten
{
public:
    /// Holds a conversation, as it is on disk or after changes.
    struct State {
        std::optional<StoredConversation> conversation = {};  // none: there is no such conversation
        bool trashed = false;
    };
    using Change = std::function<void(State&)>;
    static QString any() { return QStringLiteral("*"); }  // in place of a conversation: all of them

    /// Adds a change. Numbers rise; a second change of the same number replaces the first.
    void add(quint64 number, const QString& conversation, Change change);
    /// Forgets the changes up to that number: they are on disk, or were given up.
    void forget(quint64 written);

    bool empty() const { return m_changes.empty(); }
    bool concerns(const QString& conversation) const;
    QStringList conversations() const;  // each once
    void apply(const QString& conversation, State& state) const;

private:
    struct Entry {
        quint64 number = 0;
        QString conversation;
        Change change;
    };
    std::deque<Entry> m_changes;
};

namespace changes {

Unwritten::Change header(const ConversationHeader& header);
Unwritten::Change message(const StoredMessage& message);
Unwritten::Change text(const QString& message, const QString& text);
Unwritten::Change all(const StoredConversation& conversation);
Unwritten::Change recording(std::function<QByteArray()> json);
Unwritten::Change trashed(bool trashed);
Unwritten::Change gone();  // removes the conversation if it is in the trash

}  // namespace changes
