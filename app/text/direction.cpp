#include "app/text/direction.h"

Direction directionOf(QStringView text)
{
    for (qsizetype i = 0; i < text.size(); ++i) {
        if (text[i].isLowSurrogate())
            continue;  // was read with its other half
        char32_t letter = text[i].unicode();
        if (text[i].isHighSurrogate()) {
            if (i + 1 >= text.size() || !text[i + 1].isLowSurrogate())
                continue;
            letter = QChar::surrogateToUcs4(text[i], text[i + 1]);
        }
        switch (QChar::direction(letter)) {
        case QChar::DirL:
            return Direction::LeftToRight;
        case QChar::DirR:
        case QChar::DirAL:
            return Direction::RightToLeft;
        default:
            break;
        }
    }
    return Direction::Neutral;
}

Direction directionOf(const Spans& spans)
{
    for (const bool words : {true, false}) {
        for (const Span& span : spans) {
            const bool word = !(span.looks & (Span::Code | Span::Maths));
            if (word != words)
                continue;
            if (const Direction direction = directionOf(span.text); direction != Direction::Neutral)
                return direction;
        }
    }
    return Direction::Neutral;
}

Direction directionOf(const QList<Spans>& row)
{
    for (const Spans& cell : row)
        if (const Direction direction = directionOf(cell); direction != Direction::Neutral)
            return direction;
    return Direction::Neutral;
}
