#include "app/chat/chat_pins.h"

#include <utility>

ChatPins::ChatPins(EngineWorker* worker, ShownConversation& shown, TurnRunner& turns)
    : m_shown(shown)
    , m_turns(turns)
{
    connect(&shown, &ShownConversation::changed, this, &ChatPins::messagesChanged);
    connect(&shown, &ShownConversation::pinsChanged, this, &ChatPins::messagesChanged);
    connect(&turns, &TurnRunner::modelChanged, this, [this] {
        m_hasDevice = m_turns.model() && !m_turns.model()->device.empty();
        Q_EMIT possibleChanged();
    });
    const auto onFrame = [this](const engine::Telemetry& frame) { setHasDevice(frame.device.has_value()); };
    connect(worker, &EngineWorker::placementReady, this, onFrame);
    connect(worker, &EngineWorker::telemetryReady, this,
            [onFrame](quint64, const engine::Telemetry& frame) { onFrame(frame); });
}

void ChatPins::setHasDevice(bool has)
{
    if (std::exchange(m_hasDevice, has) != has)
        Q_EMIT possibleChanged();
}

void ChatPins::toggle(const QString& message)
{
    m_turns.togglePin(*m_shown, message.isEmpty() ? PinnedMessages::kSystemPrompt : message);
}

#include "moc_chat_pins.cpp"
