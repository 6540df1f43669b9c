#include "app/store/conversation_title.h"

#include "app/text/visible_text.h"

namespace {

constexpr qsizetype kLongestMadeTitle_chars = 60;

}  // namespace

QString titleOf(const QString& message)
{
    QString line = VisibleText::of(message.left(4 * kLongestMadeTitle_chars)).simplified();
    if (line.size() <= kLongestMadeTitle_chars)
        return line;
    qsizetype end = line.lastIndexOf(QLatin1Char(' '), kLongestMadeTitle_chars);
    if (end < kLongestMadeTitle_chars / 2)
        end = kLongestMadeTitle_chars - (line[kLongestMadeTitle_chars - 1].isHighSurrogate() ? 1 : 0);
    return line.left(end) + QStringLiteral("…");
}
