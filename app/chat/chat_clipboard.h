// ChatClipboard copies text of the shown conversation.
#pragma once

#include "app/chat/shown_conversation.h"

#include <QObject>
#include <QString>
#include <QtQml/qqmlregistration.h>

/// Copies messages of the shown conversation to the clipboard. Lives on the UI thread; owned by ChatController.
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
    Q_INVOKABLE bool fitsTheField() const;  // the clipboard's text can be edited in the window
    /// Says the same of the text that is selected in any program, which the middle button pastes under X11.
    Q_INVOKABLE bool selectionFitsTheField() const;

private:
    const ShownConversation& m_shown;
};
