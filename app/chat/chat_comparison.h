// ChatComparison shows the answers to one question side by side.
#pragma once

#include "app/chat/chat_turn.h"
#include "app/chat/message_model.h"

#include <QHash>
#include <QObject>
#include <QString>
#include <QTimer>
#include <QtQml/qqmlregistration.h>

/// Shows all versions of an answer in the shown conversation, while they are made and afterwards, until the user keeps
/// one. The conversation remembers whether they are shown: a user who comes back to it finds them as before. Lives on
/// the UI thread; owned by ChatController.
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

    /// Shows the versions of this answer side by side, if it has more than one.
    Q_INVOKABLE void show(const QString& answer);
    Q_INVOKABLE void close();
    /// Makes the conversation go on with this answer, and stops the others that are being made.
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
    QString m_question;  // its id; empty: no comparison is shown
    int m_current = -1;
    QHash<QString, double> m_speeds;  // tokens a second by answer, until showSpeeds() shows them
    QTimer m_speedTimer;
};
