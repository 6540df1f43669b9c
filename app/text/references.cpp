#include "app/text/references.h"

#include <QRegularExpression>

#include <algorithm>

namespace {

constexpr qsizetype kMost = 100;
constexpr qsizetype kLongestDefinition = 500;

/// Returns a label in the form in which labels are compared: case and the kind of space between words do not matter.
QString compared(QStringView label)
{
    return label.toString().simplified().toCaseFolded();
}

}  // namespace

void References::take(QStringView paragraph)
{
    static const QRegularExpression definition(
        QStringLiteral("^ {0,3}\\[(?!\\^)((?:[^\\[\\]\\\\]|\\\\.){1,200})\\]:[ \\t]*\\S+"));
    for (const QStringView line : paragraph.tokenize(u'\n')) {
        const auto found = definition.match(line.toString());
        if (!found.hasMatch() || line.size() > kLongestDefinition)
            return;  // a definition cannot interrupt a paragraph
        const QString label = compared(found.captured(1));
        const bool known =
            std::any_of(m_all.begin(), m_all.end(), [&](const Reference& other) { return other.label == label; });
        if (!label.isEmpty() && !known && m_all.size() < kMost)
            m_all.append({label, line.toString()});
    }
}

QString References::usedBy(QStringView piece) const
{
    QString lines;
    if (m_all.isEmpty() || !piece.contains(u'['))
        return lines;
    QString text = compared(piece);
    text.replace(QLatin1String("[ "), QLatin1String("[")).replace(QLatin1String(" ]"), QLatin1String("]"));
    for (const Reference& reference : m_all)
        if (text.contains(u'[' + reference.label + u']'))
            lines += reference.line + u'\n';
    return lines;
}
