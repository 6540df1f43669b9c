#include "app/chat/open_conversations.h"

#include <utility>

OpenConversations::OpenConversations(ConversationStore& store)
    : m_store(store)
{
}

OpenConversation* OpenConversations::find(const QString& id) const
{
    const auto found = m_conversations.find(id);
    return found == m_conversations.end() ? nullptr : found->second.get();
}

OpenConversation* OpenConversations::open(const QString& id)
{
    if (OpenConversation* const known = find(id))
        return known;
    const std::optional<StoredConversation> stored = m_store.conversation(id);
    if (!stored)
        return nullptr;
    auto conversation = std::make_unique<OpenConversation>();
    conversation->header = stored->header;
    conversation->tree = ConversationTree(stored->messages, stored->header.leaf);
    conversation->kept = true;
    const StoredMessage* const last = conversation->last();
    conversation->onceFull = last && last->status == StoredMessage::Status::ContextFull;
    return (m_conversations[id] = std::move(conversation)).get();
}

OpenConversation* OpenConversations::create(const ConversationSettings& settings)
{
    auto conversation = std::make_unique<OpenConversation>();
    conversation->header.id = newId();
    conversation->header.createdMs = conversation->header.changedMs = nowMs();
    conversation->header.settings = settings;
    const QString id = conversation->header.id;
    return (m_conversations[id] = std::move(conversation)).get();
}

void OpenConversations::show(const QString& id)
{
    m_shown = id;
    dropIdle();
}

void OpenConversations::forget(const QString& id)
{
    m_conversations.erase(id);
}

void OpenConversations::save(OpenConversation& conversation)
{
    conversation.header.leaf = conversation.tree.leaf();
    conversation.kept = true;
    m_store.save(conversation.header);
}

void OpenConversations::save(OpenConversation& conversation, const QString& message)
{
    if (const StoredMessage* const found = conversation.tree.find(message))
        m_store.save(conversation.header.id, *found);
}

void OpenConversations::saveAll(OpenConversation& conversation)
{
    conversation.kept = true;
    OpenConversation now = conversation;
    if (now.phase == OpenConversation::Phase::Queued)
        now.takeAnswersBack({});  // what has not begun may never come
    now.header.leaf = now.tree.leaf();
    m_store.saveAll({now.header, now.tree.messages()});
}

void OpenConversations::dropIdle()
{
    std::erase_if(m_conversations, [this](const auto& entry) {
        const OpenConversation& conversation = *entry.second;
        return entry.first != m_shown && !conversation.busy() && !conversation.waitsForFiles();
    });
}
