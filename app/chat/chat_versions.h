// ChatVersions makes versions of messages, branches conversations and chooses which versions are shown.
#pragma once

#include "app/chat/chat_turn.h"

#include <QObject>
#include <QString>
#include <QtQml/qqmlregistration.h>

/// The versions of the messages in the shown conversation. Lives on the UI thread; owned by ChatController.
class ChatVersions : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("ChatController has one")
    Q_PROPERTY(int longest READ longest CONSTANT)

public:
    ChatVersions(EngineThread& engine, ConversationStore& store, ShownConversation& shown, OpenConversations& open,
                 ChatTurn& turn);

    static int longest() { return int(kLongestMessage_chars); }  // characters of a message that can be kept
    /// Makes a new version of a message with this text: a question is then asked. False: not now, or it is too long.
    Q_INVOKABLE bool edit(const QString& message, const QString& text);
    /// Does the same for a question, with only those of its files whose ids are in `files`.
    Q_INVOKABLE bool edit(const QString& message, const QString& text, const QStringList& files);
    Q_INVOKABLE void showPrevious(const QString& message) { show(message, -1); }
    Q_INVOKABLE void showNext(const QString& message) { show(message, 1); }
    /// Shows another version, this many further, of the last shown message that has several.
    Q_INVOKABLE void step(int step);
    /// Shows the versions that lead to this message, as a search may find one that is not on the shown path. False:
    /// there is no such message here.
    Q_INVOKABLE bool showMessage(const QString& message);
    /// Makes a new conversation with the messages up to this one.
    Q_INVOKABLE void branch(const QString& message);

Q_SIGNALS:
    void branched(const QString& conversation);  // to be opened

private:
    void show(const QString& message, int step);
    bool ask(const StoredMessage& original, const QString& text, const QList<Attachment>& attachments);

    EngineThread& m_engine;
    ConversationStore& m_store;
    ShownConversation& m_shown;
    OpenConversations& m_open;
    ChatTurn& m_turn;
};
