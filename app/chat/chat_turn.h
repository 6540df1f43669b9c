// ChatTurn sends what is asked in the shown conversation, and says how far its answer is.
#pragma once

#include "app/chat/shown_conversation.h"

#include <QObject>
#include <QString>
#include <QTimer>
#include <QVariant>
#include <QtQml/qqmlregistration.h>

/// Begins the turns of the shown conversation and says whether there can be one and how far it is. TurnRunner runs
/// them, also while another conversation is shown. Lives on the UI thread; owned by ChatController.
class ChatTurn : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("ChatController has one")
    Q_PROPERTY(State state READ state NOTIFY stateChanged)
    Q_PROPERTY(bool busy READ busy NOTIFY stateChanged)
    Q_PROPERTY(bool queued READ queued NOTIFY stateChanged)
    Q_PROPERTY(bool loading READ loading NOTIFY canSendChanged)
    Q_PROPERTY(int queuePosition READ queuePosition NOTIFY stateChanged)
    Q_PROPERTY(bool canSend READ canSend NOTIFY canSendChanged)
    Q_PROPERTY(QString obstacle READ obstacle NOTIFY canSendChanged)
    Q_PROPERTY(bool answered READ answered NOTIFY stateChanged)
    Q_PROPERTY(QString answeredElsewhere READ answeredElsewhere NOTIFY elsewhereChanged)
    Q_PROPERTY(QString titleElsewhere READ titleElsewhere NOTIFY elsewhereChanged)
    Q_PROPERTY(int countElsewhere READ countElsewhere NOTIFY elsewhereChanged)
    Q_PROPERTY(QVariant tokensPerSecondElsewhere READ tokensPerSecondElsewhere NOTIFY elsewhereChanged)
    Q_PROPERTY(QString savedNote READ savedNote NOTIFY savedNoteChanged)
    Q_PROPERTY(QString ending READ ending NOTIFY endingChanged)

public:
    enum State {
        Ready,
        Queued,     // other conversations are answered first
        Reading,    // the prompt goes through the model
        Answering,  // text arrives
        Stopping,   // the engine has been told to stop
    };
    Q_ENUM(State)

    ChatTurn(ShownConversation& shown, OpenConversations& open, TurnRunner& turns);

    State state() const { return State(m_shown->phase); }
    bool busy() const { return m_shown->busy(); }
    bool queued() const { return state() == Queued; }
    bool loading() const { return m_turns.loading(); }  // the model
    int queuePosition() const;  // this many turns have to end before this conversation's begins; 0: it does not wait
    bool answered() const { return busy() && !queued(); }
    /// Returns the id of another conversation that is being answered while this one is shown; of several the first.
    /// Empty: none is.
    QString answeredElsewhere() const;
    QString titleElsewhere() const;             // empty: it has none
    int countElsewhere() const;                 // of conversations that are being answered, without this one
    QVariant tokensPerSecondElsewhere() const;  // of them together; undefined: not known
    bool canSend() const { return obstacle().isEmpty(); }
    QString obstacle() const;  // why nothing can be sent now; empty when it can
    /// Returns a sentence: how much KV came back from the disk for the newest answer, or why none; empty: not needed.
    QString savedNote() const { return m_shown->savedNote; }
    /// Returns how the turn that was just waited for has ended, to be read aloud; empty as soon as anything follows it.
    QString ending() const { return m_ending; }

    /// Sends a message. False: it cannot be sent now, as `obstacle` says, or is empty or too long to be kept; the text
    /// stays where it was typed.
    Q_INVOKABLE bool send(const QString& text);
    bool send(const QString& text, const QList<Attachment>& attachments);
    Q_INVOKABLE void stop();
    /// Asks for the last answer again: in place of one without a word, else as a new version.
    Q_INVOKABLE void retry();
    Q_INVOKABLE void regenerate(const QString& answer);
    /// Asks for several new versions of this answer at the same time, 2 to 4, and shows them side by side.
    Q_INVOKABLE void regenerateTogether(const QString& answer, int versions);
    Q_INVOKABLE void stopVersion(const QString& answer);  // and no other
    Q_INVOKABLE void continueAnswer(const QString& answer);

    // Not for pages.
    bool ask(StoredMessage question);
    void askAgain(const QString& question);
    void goOnWithWhatWasCut();
    /// The answers of a conversation that the load of a model cuts off.
    struct Cut {
        QString conversation;
        QStringList answers = {};
    };
    /// Goes on, when the next model is ready, with each conversation's shown answer and with the others cut off there.
    void goOnAfterLoad(const QList<Cut>& cut) { m_goOnAfterLoad = cut; }
    void onModelChanged();
    void onTitleElsewhere() { Q_EMIT elsewhereChanged(); }
    void onTrashed(const QString& conversation);
    /// Call it when the user has chosen this one of several versions: no other goes on after the load.
    void onKept(const QString& answer);

Q_SIGNALS:
    void stateChanged();
    void canSendChanged();
    void elsewhereChanged();
    void savedNoteChanged();
    void endingChanged();

private:
    void setEnding(const QString& ending);
    void answerLast(OpenConversation& conversation);
    void answerInsteadOf(OpenConversation& conversation, const StoredMessage& answer);
    void goOnWithWhatWasCut(OpenConversation& conversation, const QStringList& cut);
    void dontGoOn(const QString& conversation);

    QStringList elsewhere() const;

    ShownConversation& m_shown;
    OpenConversations& m_open;
    TurnRunner& m_turns;
    QTimer m_tellElsewhere;
    QString m_ending;
    bool m_begun = false;  // the newest turn did not end while it waited
    QList<Cut> m_goOnAfterLoad;
};
