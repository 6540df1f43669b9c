// TurnQueue decides which conversation is answered next.
#pragma once

#include <QList>
#include <QString>
#include <QStringList>

#include <optional>

/// Holds the turns of all conversations: some run at the same time, the others wait in the order they were asked for; a
/// conversation has one at most. A turn may make several answers at the same time. Each answer has a number that no
/// other ever gets, so what still arrives for one that is over finds no turn. A plain value on the UI thread.
class TurnQueue
{
public:
    struct Turn {
        quint64 number = 0;  // of the first of its answers; each of the others has the next
        QString conversation;
        QStringList answers;  // the messages that are being made
        bool operator==(const Turn&) const = default;
    };

    /// Puts a turn at the end. Returns its first answer's number; nothing: this conversation has a turn already.
    std::optional<quint64> add(const QString& conversation, const QStringList& answers);

    /// Starts the first waiting turn if no more than `most` answers are being made then, or if no other turn runs.
    /// Nothing: it has to wait, or none waits.
    std::optional<Turn> startNext(int most);
    /// Ends one answer of a running turn. With the last of its answers the turn ends, and the next may start. Returns
    /// the turn; nothing: no running answer has this number, or its conversation was forgotten.
    std::optional<Turn> end(quint64 number);

    /// Takes a conversation's waiting turn out. Empty: it has none that waits.
    std::optional<Turn> removeWaiting(const QString& conversation);
    QList<Turn> removeAllWaiting();
    /// Forgets a conversation that is gone. Its waiting turn is removed; a running one is not returned any more, but
    /// keeps the engine busy until end().
    void forget(const QString& conversation);

    /// Return the running turns but those of forgotten conversations: all, in the order in which they began, or one
    /// (null: there is none).
    QList<Turn> running() const;
    const Turn* running(quint64 number) const;  // the one that makes the answer of this number
    const Turn* runningOf(const QString& conversation) const;
    /// Say whether the engine has something to do: with any turn, or with that whose first answer has this number.
    bool busy() const { return !m_running.isEmpty(); }
    bool busyWith(quint64 first) const;
    bool contains(const QString& conversation) const;
    /// Returns the place of a conversation's turn. 0: it runs. 1: it is the next one. Nothing: it has no turn.
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
