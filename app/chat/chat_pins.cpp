#include "app/chat/chat_pins.h"

ChatPins::ChatPins(ShownConversation& shown, TurnRunner& turns)
    : m_shown(shown)
    , m_turns(turns)
{
    connect(&shown, &ShownConversation::changed, this, &ChatPins::messagesChanged);
    connect(&shown, &ShownConversation::pinsChanged, this, &ChatPins::messagesChanged);
    connect(&turns, &TurnRunner::modelChanged, this, &ChatPins::possibleChanged);
}

void ChatPins::toggle(const QString& message)
{
    m_turns.togglePin(*m_shown, message.isEmpty() ? PinnedMessages::kSystemPrompt : message);
}
