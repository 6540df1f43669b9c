// OpenConversation holds one conversation in memory and what happens to it now.
#pragma once

#include "app/chat/activity.h"
#include "app/chat/context_ledger.h"
#include "app/chat/conversation_tree.h"
#include "engine/engine.h"

#include <QHash>
#include <QString>
#include <QStringList>

#include <optional>

/// One conversation that is shown or has a turn: what is kept of it, and what happens to it now. A plain value on the
/// UI thread; owned by OpenConversations, which is the only one to run its turns.
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
    QString answer;                       // the message that is being made
    std::optional<StoredMessage> before;  // what it was when it was asked for again; empty: it is a new one
    bool goOnWhenFull = false;            // room has been made, so an answer that fills the context goes on

    engine::Telemetry frame;  // the newest of its last turn
    QString savedNote;        // what was good of its saved KV in its last turn; empty: it needed none
    bool contextFull = false;
    bool contextNearlyFull = false;
    int tooLongTokens = 0;  // of the last question, which alone is more than the context holds; 0: it is not
    ContextLedger ledger;
    QHash<QString, int> tokens;                 // by message, as the engine counted them last
    QHash<QString, engine::TokenRange> places;  // by message, in the prompt that was counted last, and the answer to it

    bool busy() const { return phase != Phase::Idle; }
    ConversationActivity::Value activity() const;
    bool worthKeeping() const;  // something in it was said, is being written or was chosen
    const StoredMessage* last() const { return tree.find(tree.leaf()); }  // null: there is none

    /// Takes what the engine counted for a request whose messages are these (empty: the system prompt).
    void take(const engine::PromptLedger& counted, const QStringList& ids, const engine::Request& request, int limit);
};

QString newId();
qint64 nowMs();  // since 1970
