#include "app/chat/shown_conversation.h"

ShownConversation::ShownConversation(OpenConversations& open, TurnRunner& turns)
    : m_open(open)
    , m_shown(open.create({}))
{
    m_open.show(id());
    const auto ofShown = [this](void (ShownConversation::*signal)()) {
        return [this, signal](const QString& conversation) {
            if (conversation == id())
                Q_EMIT(this->*signal)();
        };
    };
    connect(&turns, &TurnRunner::phaseChanged, this, ofShown(&ShownConversation::phaseChanged));
    connect(&turns, &TurnRunner::messagesChanged, this, ofShown(&ShownConversation::messagesChanged));
    connect(&turns, &TurnRunner::numbersChanged, this, ofShown(&ShownConversation::numbersChanged));
    connect(&turns, &TurnRunner::contextChanged, this, ofShown(&ShownConversation::contextChanged));
    connect(&turns, &TurnRunner::savedNoteChanged, this, ofShown(&ShownConversation::savedNoteChanged));
    connect(&turns, &TurnRunner::pinsChanged, this, ofShown(&ShownConversation::pinsChanged));
    connect(&turns, &TurnRunner::turnEnded, this, ofShown(&ShownConversation::turnEnded));
    connect(&turns, &TurnRunner::modelChanged, this, &ShownConversation::forgetContext);
    connect(&turns, &TurnRunner::textAdded, this,
            [this](const QString& conversation, const QString& message, const QString& text) {
                if (conversation == id())
                    Q_EMIT textAdded(message, text);
            });
}

void ShownConversation::show(OpenConversation& conversation)
{
    m_shown = &conversation;
    m_open.show(id());
    Q_EMIT changed();
}

void ShownConversation::pathIsDifferent()
{
    m_open.save(*m_shown);
    const StoredMessage* const last = m_shown->last();
    m_shown->tooLongTokens = 0;
    if (!m_shown->busy()) {
        m_shown->contextFull = false;
        m_shown->onceFull = last && last->status == StoredMessage::Status::ContextFull;
    }
    Q_EMIT messagesChanged();
    contextIsDifferent();
}

void ShownConversation::contextIsDifferent()
{
    if (!m_shown->busy())
        m_shown->frame = {};
    Q_EMIT contextChanged();
    Q_EMIT promptChanged();
}

/// Forgets what was counted of the context: another model counted it.
void ShownConversation::forgetContext()
{
    m_shown->ledger = {};
    m_shown->contextFull = m_shown->contextNearlyFull = false;
    m_shown->tooLongTokens = 0;
}

#include "moc_shown_conversation.cpp"
