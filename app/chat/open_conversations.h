// OpenConversations keeps conversations in memory and puts them into the store.
#pragma once

#include "app/chat/open_conversation.h"
#include "app/store/conversation_store.h"

#include <QString>

#include <map>
#include <memory>

/// The conversation that is shown, those that have a turn, and new ones whose files are still being read. Lives on the
/// UI thread; owned by Program.
class OpenConversations
{
public:
    explicit OpenConversations(ConversationStore& store);

    OpenConversation* find(const QString& id) const;  // null: it is not in memory
    OpenConversation* open(const QString& id);        // from the store if need be; null: there is no such thing
    OpenConversation* create(const ConversationSettings& settings);
    /// Keeps this conversation in memory, since it is shown; drops the one shown before if it has no turn.
    void show(const QString& id);
    void forget(const QString& id);
    void dropIdle();  // those that are not shown, have no turn and wait for no file

    // These put a conversation, or one of its messages, into the store as it is now.
    void save(OpenConversation& conversation);
    void save(OpenConversation& conversation, const QString& message);
    void saveAll(OpenConversation& conversation);  // without the answers that still wait

private:
    ConversationStore& m_store;
    std::map<QString, std::unique_ptr<OpenConversation>> m_conversations;
    QString m_shown;
};
