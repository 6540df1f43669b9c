#include "app/text/visible_text.h"

#include <QChar>

#include <algorithm>
#include <array>

namespace {

constexpr char16_t kControlPictures = 0x2400;  // U+2400 + c pictures the control character c

// Tag characters are invisible copies of ASCII. Flags of regions are written as a black flag and tags with the region's
// name; there are three such emoji, and any other text in tags is hidden text.
constexpr char32_t kTags = 0xE0000;
constexpr char32_t kBlackFlag = 0x1F3F4;
constexpr std::array kFlags{QStringView(u"gbeng\x7F"), QStringView(u"gbsct\x7F"),
                            QStringView(u"gbwls\x7F")};  // England, Scotland, Wales

bool isTag(char32_t c)
{
    return c >= kTags && c <= kTags + 0x7F;
}

bool isEmojiSelector(char32_t c)
{
    return c >= 0xFE00 && c <= 0xFE0F;
}

/// Says whether a variation selector has nothing to select. It chooses a look of the character before it, if that has
/// several; in rows of several, or after other characters, selectors can carry hidden text.
bool selectsNothing(char32_t c, char32_t before)
{
    if (c >= 0xE0100 && c <= 0xE01EF)
        return QChar::script(before) != QChar::Script_Han;
    if (c >= 0x180B && c <= 0x180F)
        return QChar::script(before) != QChar::Script_Mongolian || before == 0x180E;
    return isEmojiSelector(c) && isEmojiSelector(before);
}

/// Says whether a character changes the order of text (marks, overrides, isolates), is invisible, or is a noncharacter
/// (Qt breaks lines at some of these). Joiners are not among them: emoji and several scripts need those.
bool hidesOrReorders(char32_t c)
{
    return c == 0x034F || c == 0x061C || c == 0x115F || c == 0x1160 || c == 0x17B4 || c == 0x17B5 || c == 0x200B ||
           c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0x3164 ||
           c == 0xFEFF || c == 0xFFA0 || (c >= 0xFFF9 && c <= 0xFFFB) || isTag(c) || (c >= 0xFDD0 && c <= 0xFDEF) ||
           (c & 0xFFFE) == 0xFFFE;
}

QString codePoint(char32_t c)
{
    return QStringLiteral("⟨U+%1⟩").arg(uint(c), 4, 16, QLatin1Char('0')).toUpper();
}

void appendVisible(QString& out, char32_t c, char32_t before)
{
    if (c == '\n' || c == '\t')
        out += QChar(char16_t(c));
    else if (c == 0x2028 || c == 0x2029)
        out += QLatin1Char('\n');
    else if (c < 0x20)
        out += QChar(char16_t(kControlPictures + c));
    else if (c == 0x7F)
        out += QChar(u'␡');
    else if ((c >= 0x80 && c < 0xA0) || hidesOrReorders(c) || selectsNothing(c, before) || QChar::isSurrogate(c))
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
        if (piece[i].isHighSurrogate() && i + 1 < piece.size() && piece[i + 1].isLowSurrogate()) {
            c = QChar::surrogateToUcs4(piece[i], piece[i + 1]);
            ++i;
        }
        if (m_region && goesOnWithFlag(c, out))
            continue;
        if (m_carriageReturn && c != '\n')  // "\r\n" is one line break, a lone "\r" is something to see
            out += QChar(char16_t(kControlPictures + '\r'));
        m_carriageReturn = c == '\r';
        if (m_carriageReturn)
            continue;
        appendVisible(out, c, m_before);
        m_before = c;
        if (c == kBlackFlag)
            m_region.emplace();
    }
    return out;
}

/// Takes a further tag of a flag's name. False: the character is no part of a name, and the tags before it are shown as
/// hidden text.
bool VisibleText::goesOnWithFlag(char32_t c, QString& out)
{
    const QString region = *m_region + QChar(isTag(c) ? char16_t(c - kTags) : u' ');
    const auto flag =
        std::find_if(kFlags.begin(), kFlags.end(), [&](QStringView name) { return name.startsWith(region); });
    if (flag == kFlags.end()) {
        out += tagsThatHide();
        return false;
    }
    m_region = region;
    if (region == *flag) {
        for (const QChar letter : region)
            out += QChar::fromUcs4(kTags + letter.unicode());
        m_region.reset();
    }
    return true;
}

QString VisibleText::tagsThatHide()
{
    QString shown;
    for (const QChar letter : m_region.value_or(QString()))
        shown += codePoint(kTags + letter.unicode());
    m_region.reset();
    return shown;
}

QString VisibleText::end()
{
    QString rest = tagsThatHide() + (m_carriageReturn ? QString(QChar(char16_t(kControlPictures + '\r'))) : QString());
    m_carriageReturn = false;
    m_before = 0;
    return rest;
}

QString VisibleText::of(QStringView text)
{
    VisibleText visible;
    QString out = visible.add(text);
    out += visible.end();
    return out;
}
