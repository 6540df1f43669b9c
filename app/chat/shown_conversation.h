// ShownConversation says which conversation the page shows and tells what happens to it.
#pragma once

#include "app/chat/turn_runner.h"

#include <QObject>

/// Holds which conversation is shown, for the objects of its page: by its signals they learn what happens to that
/// conversation, and tell each other what they have done with it. Lives on the UI thread; owned by ChatController.
class ShownConversation : public QObject
{
    Q_OBJECT

public:
    /// Begins with a new, empty conversation.
    ShownConversation(OpenConversations& open, TurnRunner& turns);

    OpenConversation& operator*() const { return *m_shown; }
    OpenConversation* operator->() const { return m_shown; }
    const QString& id() const { return m_shown->header.id; }
    void show(OpenConversation& conversation);

    void pathIsDifferent();     // call it when other messages are shown: it saves which
    void contextIsDifferent();  // call it when the last turn's numbers do not hold for the next

Q_SIGNALS:
    void changed();  // it is another conversation
    void titleChanged();
    void asked();  // a question was added, and its header saved
    void draftTaken();
    void phaseChanged();
    void messagesChanged();
    void textAdded(const QString& message, const QString& text);
    void numbersChanged();
    void contextChanged();
    void promptChanged();  // what is asked next is to be counted again
    void savedNoteChanged();
    void pinsChanged();
    void turnEnded();

private:
    void forgetContext();

    OpenConversations& m_open;
    OpenConversation* m_shown;  // there always is one
};
