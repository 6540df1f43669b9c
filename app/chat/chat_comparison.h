// ChatComparison shows the answers to one question side by side.
#pragma once

#include "app/chat/chat_turn.h"
#include "app/chat/message_model.h"

#include <QHash>
#include <QObject>
#include <QString>
#include <QTimer>
#include <QtQml/qqmlregistration.h>

/// All versions of an answer in the shown conversation, while they are made and afterwards, until the user keeps one.
/// Whether they are shown is the conversation's: who comes back to one that is being answered finds them as they were.
/// Lives on the UI thread; owned by ChatController.
class ChatComparison : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("ChatController has one")
    Q_PROPERTY(bool shown READ isShown NOTIFY changed)
    Q_PROPERTY(QString question READ question NOTIFY changed)
    Q_PROPERTY(MessageModel* answers READ answers CONSTANT)
    Q_PROPERTY(int current READ current NOTIFY changed)

public:
    ChatComparison(ShownConversation& shown, TurnRunner& turns);

    bool isShown() const { return !m_question.isEmpty(); }
    QString question() const;  // its beginning, in one line
    MessageModel* answers() { return &m_answers; }
    int current() const { return m_current; }  // the row of the one the conversation goes on with

    /// Shows the versions of this answer; nothing, where it is the only one.
    Q_INVOKABLE void show(const QString& answer);
    Q_INVOKABLE void close();
    /// The conversation goes on with this answer, and no other is made any more.
    Q_INVOKABLE void keep(const QString& answer);

Q_SIGNALS:
    void changed();
    void kept(const QString& answer);

private:
    void refresh();
    void showSpeeds();

    ShownConversation& m_shown;
    TurnRunner& m_turns;
    MessageModel m_answers;
    QString m_question;  // by its id; empty: nothing is shown
    int m_current = -1;
    QHash<QString, double> m_speeds;  // tokens a second of the answers that are made, to be shown
    QTimer m_speedTimer;
};
