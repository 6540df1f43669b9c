// ChatContext says what fills the context of the shown conversation and makes room in it.
#pragma once

#include "app/chat/chat_turn.h"
#include "app/chat/context_choices.h"
#include "app/worker/token_counter.h"

#include <QObject>
#include <QTimer>
#include <QtQml/qqmlregistration.h>

#include <optional>
#include <stop_token>

/// Says how many tokens the context of the shown conversation has, which the engine counts when nothing has changed for
/// a moment, and makes room when it is full, or nearly. Lives on the UI thread; owned by ChatController.
class ChatContext : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("ChatController has one")
    Q_PROPERTY(ContextLedger ledger READ ledger NOTIFY changed)
    Q_PROPERTY(bool full READ full NOTIFY changed)
    Q_PROPERTY(bool nearlyFull READ nearlyFull NOTIFY changed)
    Q_PROPERTY(bool canDropOldest READ canDropOldest NOTIFY changed)
    Q_PROPERTY(int tokens READ tokens NOTIFY changed)
    Q_PROPERTY(int tooLongTokens READ tooLongTokens NOTIFY changed)
    Q_PROPERTY(int largerTokens READ largerTokens NOTIFY changed)
    Q_PROPERTY(double largerBytes READ largerBytes NOTIFY changed)

public:
    ChatContext(EngineThread& engine, ShownConversation& shown, OpenConversations& open, TurnRunner& turns,
                ChatTurn& turn);

    int tokens() const { return m_turns.contextTokens(); }  // how many it can hold; 0: there is no model
    ContextLedger ledger() const { return m_shown->ledger; }
    bool full() const { return m_shown->contextFull; }
    bool nearlyFull() const { return m_shown->contextNearlyFull; }
    bool canDropOldest() const;
    /// Returns the tokens of the last question if it alone is more than the context holds, so that only a larger
    /// context helps; else 0.
    int tooLongTokens() const { return m_shown->tooLongTokens; }
    void setCountRest(int ms) { m_countTimer.setInterval(ms); }  // after which a prompt is counted
    int largerTokens() const;                                    // that the context could have; 0: it cannot be larger
    double largerBytes() const;

    /// Leaves the oldest turns out of what the model reads; an answer that was cut goes on.
    Q_INVOKABLE void dropOldest();
    /// Lets the model read those left-out messages again that stand around this one, or just above it.
    Q_INVOKABLE void bringBack(const QString& message);
    Q_INVOKABLE void raise();
    Q_INVOKABLE void dismissNotice();

Q_SIGNALS:
    void changed();
    void reloadRequested(int contextTokens);  // the same model with a larger context

private:
    std::optional<LargerContext> larger() const;
    void recount();
    void stopCounting();
    void countUnanswered();
    void onPromptCounted(quint64 job, const std::optional<engine::PromptLedger>& ledger);

    EngineThread& m_engine;
    ShownConversation& m_shown;
    OpenConversations& m_open;
    TurnRunner& m_turns;
    ChatTurn& m_turn;
    TokenCounter m_counter;
    QTimer m_countTimer;
    quint64 m_countJob = 0;
    ChatRequest m_counted;  // what the newest job counts
    QString m_countedOf;    // the conversation
    std::stop_source m_countStop{std::nostopstate};
    bool m_counting = false;    // the engine is counting
    bool m_countAgain = false;  // what it counts has changed meanwhile
};
