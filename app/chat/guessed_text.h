// GuessedText remembers which pieces of the answers had been guessed before the model said them.
#pragma once

#include "engine/engine.h"

#include <QHash>
#include <QList>
#include <QString>

/// Characters [first, last) of a message's text.
struct TextPiece {
    qsizetype first = 0;
    qsizetype last = 0;
    bool operator==(const TextPiece&) const = default;
};

/// The guessed pieces of each answer, as long as the program runs. A plain value on the UI thread; owned by TurnRunner.
class GuessedText
{
public:
    /// Call it when a turn begins that writes this answer from that character on: it forgets the pieces from there on.
    void begin(const QString& conversation, const QString& answer, qsizetype from);
    /// Remembers the guessed pieces of the answer whose turn has ended.
    void end(const QString& conversation, const QString& answer, const engine::Turn& turn);
    void forget(const QString& conversation) { m_pieces.remove(conversation); }

    QList<TextPiece> of(const QString& conversation, const QString& message) const;

private:
    QHash<QString, QHash<QString, QList<TextPiece>>> m_pieces;  // by conversation and message
    QHash<QString, qsizetype> m_from;                           // by the answers that are being written
};
