#include "app/text/visible_text.h"

#include <QChar>

namespace {

constexpr char16_t kControlPictures = 0x2400;  // U+2400 + c pictures the control character c

/// Marks, overrides and isolates that turn the order of what follows, characters nobody sees at all, and those that are
/// none (Qt breaks lines at some of them). Joiners are not among them: emoji and several scripts need those.
bool hidesOrReorders(char32_t c)
{
    return c == 0x061C || c == 0x200B || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
           (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF || (c >= 0xFFF9 && c <= 0xFFFB) ||
           (c >= 0xE0000 && c <= 0xE007F) || (c >= 0xFDD0 && c <= 0xFDEF) || (c & 0xFFFE) == 0xFFFE;
}

QString codePoint(char32_t c)
{
    return QStringLiteral("⟨U+%1⟩").arg(uint(c), 4, 16, QLatin1Char('0')).toUpper();
}

void appendVisible(QString& out, char32_t c)
{
    if (c == '\n' || c == '\t')
        out += QChar(char16_t(c));
    else if (c == 0x2028 || c == 0x2029)
        out += QLatin1Char('\n');
    else if (c < 0x20)
        out += QChar(char16_t(kControlPictures + c));
    else if (c == 0x7F)
        out += QChar(u'␡');
    else if ((c >= 0x80 && c < 0xA0) || hidesOrReorders(c) || QChar::isSurrogate(c))
        out += codePoint(c);
    else
        out += QChar::fromUcs4(c);
}

}  // namespace

QString VisibleText::add(QStringView piece)
{
    QString out;
    out.reserve(piece.size());
    for (qsizetype i = 0; i < piece.size(); ++i) {
        char32_t c = piece[i].unicode();
        if (m_carriageReturn && c != '\n')  // "\r\n" is one line break, a lone "\r" is something to see
            out += QChar(char16_t(kControlPictures + '\r'));
        m_carriageReturn = c == '\r';
        if (m_carriageReturn)
            continue;
        if (piece[i].isHighSurrogate() && i + 1 < piece.size() && piece[i + 1].isLowSurrogate()) {
            c = QChar::surrogateToUcs4(piece[i], piece[i + 1]);
            ++i;
        }
        appendVisible(out, c);
    }
    return out;
}

QString VisibleText::end()
{
    QString rest = m_carriageReturn ? QString(QChar(char16_t(kControlPictures + '\r'))) : QString();
    m_carriageReturn = false;
    return rest;
}

QString VisibleText::of(QStringView text)
{
    VisibleText visible;
    QString out = visible.add(text);
    out += visible.end();
    return out;
}
