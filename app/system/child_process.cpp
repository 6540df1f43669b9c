#include "app/system/child_process.h"

#include "app/text/visible_text.h"

#include <QList>

QString childsReason(const QByteArray& errors)
{
    constexpr QByteArrayView mark("error: ");
    constexpr qsizetype kLongestReason = 500;
    const QList<QByteArray> lines = errors.split('\n');
    for (auto line = lines.rbegin(); line != lines.rend(); ++line)
        if (line->startsWith(mark))
            return VisibleText::of(QString::fromUtf8(line->mid(mark.size())).trimmed().left(kLongestReason));
    return {};
}
