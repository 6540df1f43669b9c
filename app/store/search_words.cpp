#include "app/store/search_words.h"

#include <QRegularExpression>

#include <algorithm>

namespace {

constexpr int kLongest_chars = 400;
constexpr int kMostWords = 16;

bool hasLetter(const QList<uint>& word)
{
    return std::any_of(word.begin(), word.end(), [](char32_t c) { return QChar::isLetterOrNumber(c); });
}

bool hasNoSpaces(QChar::Script script)
{
    switch (script) {
    case QChar::Script_Han:
    case QChar::Script_Hiragana:
    case QChar::Script_Katakana:
    case QChar::Script_Thai:
    case QChar::Script_Lao:
    case QChar::Script_Khmer:
    case QChar::Script_Myanmar:
        return true;
    default:
        return false;
    }
}

bool isUnspaced(const QList<uint>& word)
{
    return std::any_of(word.begin(), word.end(), [](char32_t c) { return hasNoSpaces(QChar::script(c)); });
}

}  // namespace

SearchWords searchWords(const QString& typed)
{
    static const QRegularExpression space(QStringLiteral("[\\s\\x00]+"),
                                          QRegularExpression::UseUnicodePropertiesOption);
    static const QRegularExpression signs(QStringLiteral("[^\\p{L}\\p{N}\\p{M}]+"),
                                          QRegularExpression::UseUnicodePropertiesOption);
    SearchWords found;
    QStringList terms;
    bool lastIsTerm = false;
    for (QString word : typed.left(kLongest_chars).split(space, Qt::SkipEmptyParts)) {
        const QList<uint> characters = word.toUcs4();
        if (!hasLetter(characters))
            continue;  // the index holds letters and digits only
        lastIsTerm = !isUnspaced(characters);
        if (lastIsTerm)
            terms << QLatin1Char('"') + word.replace(QLatin1Char('"'), QLatin1String("\"\"")) + QLatin1Char('"');
        else
            found.parts += word.split(signs, Qt::SkipEmptyParts);
        if (terms.size() + found.parts.size() >= kMostWords)
            break;
    }
    if (terms.isEmpty())
        return found;
    // "C++" is the word C, whole, and not every word that begins with it.
    const QChar end = terms.last().chopped(1).back();
    const bool maybeBeginning = lastIsTerm && (end.isLetterOrNumber() || end.isMark() || end.isSurrogate());
    found.query = terms.join(QLatin1Char(' ')) + (maybeBeginning ? QLatin1String(" *") : QLatin1String());
    return found;
}
