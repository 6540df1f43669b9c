#include "app/store/conversation_title.h"

#include "app/text/visible_text.h"

namespace {

constexpr qsizetype kLongestTitle_chars = 60;

}  // namespace

QString titleOf(const QString& message)
{
    QString line = VisibleText::of(message.left(4 * kLongestTitle_chars)).simplified();
    if (line.size() <= kLongestTitle_chars)
        return line;
    qsizetype end = line.lastIndexOf(QLatin1Char(' '), kLongestTitle_chars);
    if (end < kLongestTitle_chars / 2)
        end = kLongestTitle_chars - (line[kLongestTitle_chars - 1].isHighSurrogate() ? 1 : 0);
    return line.left(end) + QStringLiteral("…");
}
