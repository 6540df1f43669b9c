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

/// Says whether a conversation is idle, waits for its turn or is being answered, for its row in the list.
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
        Stopping,   // the engine has been told to stop
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
    QString savedNote;        // how much of its saved KV was used in its last turn, a sentence; empty: none was needed
    bool contextFull = false;
    bool onceFull = false;  // its last answer filled a context, perhaps another model's: the next count decides
    bool contextNearlyFull = false;
    int unreadFiles = 0;    // of its draft, that are being read; while it is shown, also those that could not be read
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
    /// Says whether it is new and only has files: it is saved when the first is read, and dropped if none can be.
    bool waitsForFiles() const { return !kept && unreadFiles > 0; }
    const StoredMessage* last() const { return tree.find(tree.leaf()); }  // null: there is none
    /// Returns the answers that go on only in another context: those that are being made, and of those shown side by
    /// side the ones that filled it or, like the last answer, had a prompt that did not fit.
    QStringList cutAnswers() const;

    /// Takes over what the engine counted for a request. `ids`: of the request's messages (empty: the system prompt);
    /// `limit`: tokens that the context holds.
    void take(const engine::PromptLedger& counted, const QStringList& ids, const engine::Request& request, int limit);
    /// Takes over the numbers of the turn that made this answer or went on with it.
    void takeNumbers(StoredMessage& made, const engine::Telemetry& numbers);
    /// Call it when the conversation's turn does not come. Answers that existed before are as they were; new ones are
    /// removed or, with a sentence, stay as failed ones that say it. Returns the latter, which are to be saved.
    QStringList takeAnswersBack(const QString& sentence);
    QList<MessageTokens> messageTokens() const;  // where its messages lie in the prompt, in its order
};

/// Returns an answer whose text is still to come.
StoredMessage newAnswer(const QString& id, const QString& question);
StoredMessage::Status statusAfter(engine::StopReason reason);

QString newId();
qint64 nowMs();  // since 1970
