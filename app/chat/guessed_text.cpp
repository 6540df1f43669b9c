#include "app/chat/guessed_text.h"

void GuessedText::begin(const QString& conversation, const QString& answer, qsizetype from)
{
    m_from[answer] = from;
    if (const auto found = m_pieces.find(conversation); found != m_pieces.end())
        (*found)[answer].removeIf([from](const TextPiece& piece) { return piece.last > from; });
}

/// The engine's ranges count bytes of UTF-8 from the start of its turn; pieces count the message's characters.
void GuessedText::end(const QString& conversation, const QString& answer, const engine::Turn& turn)
{
    const qsizetype from = m_from.take(answer);
    if (turn.guessed.empty())
        return;
    QList<TextPiece>& pieces = m_pieces[conversation][answer];
    const QUtf8StringView text(turn.text);
    qsizetype bytes = 0, characters = from;
    const auto to = [&](qsizetype end) {
        characters += text.sliced(bytes, end - bytes).toString().size();
        bytes = end;
        return characters;
    };
    for (const engine::TextRange& range : turn.guessed) {
        const qsizetype first = to(range.first);
        pieces.append({first, to(range.last)});
    }
}

QList<TextPiece> GuessedText::of(const QString& conversation, const QString& message) const
{
    return m_pieces.value(conversation).value(message);
}
