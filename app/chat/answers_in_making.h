// AnswersInMaking holds what there is of a turn's answers while they are made.
#pragma once

#include "app/chat/conversation_tree.h"
#include "app/chat/reasoning_clock.h"

#include <QList>
#include <QString>

#include <map>
#include <stop_token>

/// Holds for each answer of a running turn, by its number, how it is stopped, how long the model has thought and how
/// much of its text is saved. A plain value on the UI thread; owned by TurnRunner.
class AnswersInMaking
{
public:
    /// Call it when an answer is begun or gone on with. Returns the token by which stop() stops it.
    std::stop_token begin(quint64 number, const StoredMessage& answer);
    const QString& message(quint64 number) const { return m_all.at(number).message; }

    void stop();  // all of them
    void stop(const QString& message);

    /// Adds text that has come. True: a thought has ended with it; the caller then saves the whole answer.
    bool add(quint64 number, const QString& text, StoredMessage& answer);
    /// Call it when no more text of the answer comes. True: that cut a thought off, whose time `answer` now has.
    bool end(quint64 number, StoredMessage& answer);
    /// Ends all answers. Returns those that were still thinking: their thoughts are cut off.
    QList<const StoredMessage*> endAll(ConversationTree& tree);
    /// Returns the answers that have got text since the last call, or since they were saved whole.
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
