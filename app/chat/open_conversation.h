// OpenConversation holds one conversation in memory and what happens to it now.
#pragma once

#include "app/chat/conversation_tree.h"
#include "app/chat/placement_move.h"
#include "engine/engine.h"

#include <QHash>
#include <QList>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QtQml/qqmlregistration.h>

#include <optional>

/// Whether a conversation is idle, waits for its turn or is being answered, for its row.
namespace ConversationActivity {
Q_NAMESPACE
QML_ELEMENT

enum Value {
    Idle,
    Queued,     // it waits until others have been answered
    Answering,  // the model reads its prompt or answers
};
Q_ENUM_NS(Value)
}  // namespace ConversationActivity

/// The tokens of the next prompt by where they come from, as a value for the pages: counted by the engine, before
/// anything is sent. `known` is false without a model, and until it has counted.
class ContextLedger
{
    Q_GADGET
    QML_VALUE_TYPE(contextLedger)
    Q_PROPERTY(bool known MEMBER known CONSTANT)
    Q_PROPERTY(int templateTokens MEMBER templateTokens CONSTANT)
    Q_PROPERTY(int systemTokens MEMBER systemTokens CONSTANT)
    Q_PROPERTY(int messageTokens MEMBER messageTokens CONSTANT)
    Q_PROPERTY(int attachedTokens MEMBER attachedTokens CONSTANT)
    Q_PROPERTY(int answerReserve MEMBER answerReserve CONSTANT)
    Q_PROPERTY(int limit MEMBER limit CONSTANT)
    Q_PROPERTY(int total READ total CONSTANT)

public:
    int total() const { return templateTokens + systemTokens + messageTokens; }  // the answer's not included
    bool operator==(const ContextLedger&) const = default;

    bool known = false;
    int templateTokens = 0;  // markers, role names
    int systemTokens = 0;    // the system prompt's
    int messageTokens = 0;   // all that was typed, attached and answered, less what is left out
    int attachedTokens = 0;  // of them, those of attached files
    int answerReserve = 0;   // what the next answer may take at most, or is kept free for it
    int limit = 0;           // of the context
};

/// One conversation that is shown or has a turn: what is kept of it, and what happens to it now. A plain value on the
/// UI thread; owned by OpenConversations. TurnRunner alone runs its turns.
struct OpenConversation {
    enum class Phase {
        Idle,
        Queued,
        Reading,    // its prompt goes through the model
        Answering,  // text arrives
        Stopping,   // the engine has been told
    };

    ConversationHeader header;
    ConversationTree tree;
    bool kept = false;  // it is in the store

    // Its turn, if it has one.
    Phase phase = Phase::Idle;
    QStringList answers;                   // the messages that are being made
    QHash<QString, StoredMessage> before;  // what they were when they were asked for again, by id; empty: they are new
    bool goOnWhenFull = false;             // room has been made, so an answer that fills the context goes on

    QString compared;  // the question whose answers are shown side by side; empty: none

    engine::Telemetry frame;  // the newest of its last turn
    QString savedNote;        // what was good of its saved KV in its last turn; empty: it needed none
    bool contextFull = false;
    bool onceFull = false;  // its last answer filled the context, perhaps of another model: what is counted next tells
    bool contextNearlyFull = false;
    int unreadFiles = 0;    // beside its draft: they are still being read; while it is shown, or could not be
    int tooLongTokens = 0;  // of the last question, which alone is more than the context holds; 0: it is not
    ContextLedger ledger;
    QHash<QString, int> tokens;                 // by message, as the engine counted them last
    QHash<QString, engine::TokenRange> places;  // by message, in the prompt that was counted last, and the answer to it

    bool busy() const { return phase != Phase::Idle; }
    ConversationActivity::Value activity() const;
    bool worthKeeping() const;  // something was said, is being written or attached, or was chosen
    /// Says whether the conversation was saved for a draft only, and the draft has been deleted. False while files are
    /// being read for it, or while it is shown with some that could not be.
    bool isEmptied() const { return kept && !worthKeeping() && unreadFiles == 0; }
    /// A new one with nothing but files: it is saved when the first of them has been read, and dropped if none can be.
    bool waitsForFiles() const { return !kept && unreadFiles > 0; }
    const StoredMessage* last() const { return tree.find(tree.leaf()); }  // null: there is none
    /// The answers that end with this context: those that are being made, and those shown side by side that filled it
    /// or, like the last one, had a prompt that did not fit.
    QStringList cutAnswers() const;

    /// Takes what the engine counted for a request whose messages are these (empty: the system prompt).
    void take(const engine::PromptLedger& counted, const QStringList& ids, const engine::Request& request, int limit);
    /// Takes the numbers of the turn that made this answer or went on with it.
    void takeNumbers(StoredMessage& made, const engine::Telemetry& numbers);
    /// Call it when the conversation's turn does not come: what was there before is there again, and new answers go, or
    /// say why there is none. Returns those that say so, which are to be saved.
    QStringList takeAnswersBack(const QString& sentence);
    QList<MessageTokens> messageTokens() const;  // where its messages lie in the prompt, in its order
};

/// An answer whose text is still to come.
StoredMessage newAnswer(const QString& id, const QString& question);
StoredMessage::Status statusAfter(engine::StopReason reason);

QString newId();
qint64 nowMs();  // since 1970
