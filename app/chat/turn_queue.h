// TurnQueue decides which conversation is answered next.
#pragma once

#include <QList>
#include <QString>
#include <QStringList>

#include <optional>

/// The turns of all conversations: one runs, the others wait in the order they were asked for; a conversation has one
/// at most. A turn may make several answers at the same time. These are numbered and never twice the same, so what
/// still arrives for one that is over has no owner. A plain value on the UI thread.
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

    /// The first that waits becomes the one that runs. Empty: one runs already, or none waits.
    std::optional<Turn> startNext();
    /// An answer of the running turn has ended; with the last of them the turn has, and the next may start. Returns the
    /// turn. Empty: this number does not run, or its conversation has left.
    std::optional<Turn> end(quint64 number);

    /// Takes a conversation's waiting turn out. Empty: it has none that waits.
    std::optional<Turn> removeWaiting(const QString& conversation);
    QList<Turn> removeAllWaiting();
    /// The conversation is gone: its turn does not wait any more, and if it runs, nobody wants what comes of it. The
    /// engine is still busy with it until end().
    void forget(const QString& conversation);

    /// The turn that runs and is wanted; the one that makes the answer of this number.
    const Turn* running() const;
    const Turn* running(quint64 number) const;
    bool busy() const { return m_running.has_value(); }  // the engine has something to do
    bool contains(const QString& conversation) const;
    /// 0: it runs. 1: it is the next one. Empty: it has no turn.
    std::optional<int> position(const QString& conversation) const;
    const QList<Turn>& waiting() const { return m_waiting; }

private:
    quint64 m_last = 0;
    std::optional<Turn> m_running;
    QList<quint64> m_making;  // its answers that have not ended
    bool m_wanted = false;    // the running one
    QList<Turn> m_waiting;
};
