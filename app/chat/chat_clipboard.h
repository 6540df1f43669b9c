// ChatClipboard copies text of the shown conversation.
#pragma once

#include "app/chat/shown_conversation.h"

#include <QObject>
#include <QString>
#include <QtQml/qqmlregistration.h>

/// Puts what is said in the shown conversation onto the clipboard. Lives on the UI thread; owned by ChatController.
class ChatClipboard : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("ChatController has one")

public:
    explicit ChatClipboard(const ShownConversation& shown);

    Q_INVOKABLE void copy(const QString& text);
    Q_INVOKABLE void copyMessage(const QString& message);
    Q_INVOKABLE void copyLastAnswer();
    Q_INVOKABLE void copyLastCode();        // of the newest answer that has any
    Q_INVOKABLE bool fitsTheField() const;  // what is on it can be edited in the window
    /// Says the same of what is selected somewhere, which the middle button pastes.
    Q_INVOKABLE bool selectionFitsTheField() const;

private:
    const ShownConversation& m_shown;
};
