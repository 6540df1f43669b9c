// AnswersInMaking holds what there is of a turn's answers while they are made.
#pragma once

#include "app/chat/conversation_tree.h"
#include "app/chat/reasoning_clock.h"

#include <QList>
#include <QString>

#include <map>
#include <stop_token>

/// The answers of a turn that runs, each by its number: how it is stopped, how long the model has thought, how much
/// of its text is saved. A plain value on the UI thread; owned by TurnRunner.
class AnswersInMaking
{
public:
    /// This answer is begun, or gone on with. Returns what stops it.
    std::stop_token begin(quint64 number, const StoredMessage& answer);
    const QString& message(quint64 number) const { return m_all.at(number).message; }

    void stop();  // all of them
    void stop(const QString& message);

    /// Text has come. True: with it a thought has ended, and the answer is going to be saved whole.
    bool add(quint64 number, const QString& text, StoredMessage& answer);
    /// No more text of this answer comes. True: that cut a thought off.
    bool end(quint64 number, StoredMessage& answer);
    /// Ends all answers. Returns those that were still thinking: their thoughts are cut off.
    QList<const StoredMessage*> endAll(ConversationTree& tree);
    /// Returns the answers with more text than when they were asked for last.
    QList<const StoredMessage*> grown(const ConversationTree& tree);

private:
    struct Making {
        QString message;
        ReasoningClock clock = {};
        std::stop_source stop = {};
        qsizetype savedSize = 0;  // of its text
    };
    std::map<quint64, Making> m_all;
};
