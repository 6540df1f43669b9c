#include "app/store/search_words.h"

#include <QRegularExpression>
#include <QStringList>

namespace {

constexpr int kLongest_chars = 400;
constexpr int kMostWords = 16;

bool hasLetter(const QString& word)
{
    for (const char32_t c : word.toUcs4())
        if (QChar::isLetterOrNumber(c))
            return true;
    return false;
}

}  // namespace

QString searchQuery(const QString& words)
{
    static const QRegularExpression space(QStringLiteral("[\\s\\x00]+"),
                                          QRegularExpression::UseUnicodePropertiesOption);
    QStringList terms;
    for (QString word : words.left(kLongest_chars).split(space, Qt::SkipEmptyParts)) {
        if (!hasLetter(word))
            continue;  // the index knows letters and digits only
        word.replace(QLatin1Char('"'), QLatin1String("\"\""));
        terms << QLatin1Char('"') + word + QLatin1Char('"');
        if (terms.size() == kMostWords)
            break;
    }
    if (terms.isEmpty())
        return {};
    // "C++" is the word C, whole, and not every word that begins with it.
    const QChar end = terms.last().chopped(1).back();
    const bool ended = !end.isLetterOrNumber() && !end.isMark() && !end.isSurrogate();
    return terms.join(QLatin1Char(' ')) + (ended ? QLatin1String() : QLatin1String(" *"));
}
