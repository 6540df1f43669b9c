// ChatPins keeps messages of the shown conversation on the device.
#pragma once

#include "app/chat/shown_conversation.h"
#include "app/worker/engine_worker.h"

#include <QObject>
#include <QStringList>
#include <QtQml/qqmlregistration.h>

/// Pins messages of the shown conversation, whose KV then stays on the device. Lives on the UI thread; owned by
/// ChatController.
class ChatPins : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("ChatController has one")
    Q_PROPERTY(bool possible READ possible NOTIFY possibleChanged)
    Q_PROPERTY(QStringList messages READ messages NOTIFY messagesChanged)

public:
    ChatPins(EngineWorker* worker, ShownConversation& shown, TurnRunner& turns);

    bool possible() const { return m_turns.model() && m_hasDevice; }
    QStringList messages() const { return m_turns.pinned(m_shown.id()); }

    /// Keeps a message's KV on the device, or no longer if it was kept there. `message` empty: the system prompt's.
    Q_INVOKABLE void toggle(const QString& message);

Q_SIGNALS:
    void possibleChanged();
    void messagesChanged();

private:
    void setHasDevice(bool has);

    ShownConversation& m_shown;
    TurnRunner& m_turns;
    bool m_hasDevice = false;  // one may come and go while the model is open
};
