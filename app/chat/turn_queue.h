// TurnQueue decides which conversation is answered next.
#pragma once

#include <QList>
#include <QString>
#include <QStringList>

#include <optional>

/// The turns of all conversations: some run at the same time, the others wait in the order they were asked for; a
/// conversation has one at most. A turn may make several answers at the same time. These are numbered and never twice
/// the same, so what still arrives for one that is over has no owner. A plain value on the UI thread.
class TurnQueue
{
public:
    struct Turn {
        quint64 number = 0;  // of the first of its answers; each of the others has the next
        QString conversation;
        QStringList answers;  // the messages that are being made
        bool operator==(const Turn&) const = default;
    };

    /// Puts a turn at the end. Empty: this conversation has one already.
    std::optional<quint64> add(const QString& conversation, const QStringList& answers);

    /// Starts the first waiting turn, if then no more than `most` answers are being made, or if no other is. Empty: it
    /// has to wait, or none waits.
    std::optional<Turn> startNext(int most);
    /// One answer of a running turn has ended. With the last of its answers the turn ends, and the next may start.
    /// Returns the turn. Empty: no running answer has this number, or its conversation has left.
    std::optional<Turn> end(quint64 number);

    /// Takes a conversation's waiting turn out. Empty: it has none that waits.
    std::optional<Turn> removeWaiting(const QString& conversation);
    QList<Turn> removeAllWaiting();
    /// The conversation is gone: its turn does not wait any more, and if it runs, nobody wants what comes of it. The
    /// engine is still busy with it until end().
    void forget(const QString& conversation);

    /// The turns that run and are wanted, in the order in which they began; null: it is none of them.
    QList<Turn> running() const;
    const Turn* running(quint64 number) const;  // the one that makes the answer of this number
    const Turn* runningOf(const QString& conversation) const;
    /// The engine has something to do; with the turn whose first number this is.
    bool busy() const { return !m_running.isEmpty(); }
    bool busyWith(quint64 first) const;
    bool contains(const QString& conversation) const;
    /// 0: it runs. 1: it is the next one. Empty: it has no turn.
    std::optional<int> position(const QString& conversation) const;
    const QList<Turn>& waiting() const { return m_waiting; }

private:
    struct Running {
        Turn turn;
        QList<quint64> making = {};  // its answers that have not ended
        bool wanted = true;
    };
    bool mayStart(const Turn& turn, int most) const;

    quint64 m_last = 0;
    QList<Running> m_running;
    QList<Turn> m_waiting;
};
