#include "app/text/engine_words.h"

#include "app/text/visible_text.h"

#include <QLocale>
#include <QRegularExpression>

#include <algorithm>

namespace {

constexpr qint64 kFewBytes = 100'000;  // an alignment or a length: its digits matter

double unitBytes(QStringView unit)
{
    return unit == QLatin1String("KiB") ? 1024.0 : unit == QLatin1String("MiB") ? 1048576.0 : 1073741824.0;
}

QString numberText(const QRegularExpressionMatch& number)
{
    if (number.hasCaptured(QStringLiteral("unit")))
        return memoryWords(number.captured(QStringLiteral("size")).toDouble() *
                           unitBytes(number.capturedView(QStringLiteral("unit"))));
    if (number.hasCaptured(QStringLiteral("gigabytes")))
        return memoryWords(number.captured(QStringLiteral("gigabytes")).toDouble() * 1e9);
    const qint64 value = number.captured(QStringLiteral("count")).toLongLong();
    const QString bytes = number.captured(QStringLiteral("bytes"));
    return !bytes.isEmpty() && value >= kFewBytes ? memoryWords(double(value)) : QLocale().toString(value) + bytes;
}

}  // namespace

QString memoryWords(double bytes)
{
    double shown = bytes;
    while (shown >= 999.5)
        shown /= 1000;
    const int decimals = shown >= 99.95 ? 0 : shown >= 9.995 ? 1 : 2;
    return QLocale().formattedDataSize(qint64(bytes), decimals, QLocale::DataSizeSIFormat).replace(u' ', QChar::Nbsp);
}

QString engineWords(QStringView words)
{
    // Only numbers that stand alone are rewritten: with letters, dots, slashes or colons beside it a number is part of
    // a name. Quoted text is a name, too, and is matched so that no number in it is. The number after "error" stays as
    // well.
    static const QRegularExpression numbers(QStringLiteral(
        R"((?<![^\s(])'[^\n]{1,400}?'(?=[\s,;:.)]|$)|)"
        R"((?<![^\s(])(?<!error )(?:(?<size>\d{1,9}) (?<unit>[KMG]iB)|(?<gigabytes>\d{1,9}\.\d{2}) GB|(?<count>\d{4,15})(?<bytes> bytes\b)?))"
        R"((?=[\s,;:)]|\.(?:\s|$)|$))"));
    static const QRegularExpression path(QStringLiteral(R"(^(?:/|[A-Za-z]:\\).*?: )"));
    const QString visible = VisibleText::of(words);
    qsizetype done = std::max<qsizetype>(0, path.match(visible).capturedEnd());
    QString shown = visible.left(done);
    for (auto found = numbers.globalMatch(visible, done); found.hasNext();) {
        const QRegularExpressionMatch number = found.next();
        shown += QStringView(visible).mid(done, number.capturedStart() - done);
        shown += number.capturedView().startsWith(u'\'') ? number.captured() : numberText(number);
        done = number.capturedEnd();
    }
    return shown.append(QStringView(visible).mid(done));
}

QString asSentence(const QString& words)
{
    return sentenceOf(engineWords(words));
}

QString sentenceOf(const QString& words)
{
    QString sentence = words.trimmed();
    if (sentence.isEmpty())
        return sentence;
    sentence[0] = sentence[0].toUpper();
    if (!QStringLiteral(".!?").contains(sentence.back()))
        sentence += QLatin1Char('.');
    return sentence;
}
