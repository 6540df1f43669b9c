// csvField() writes a text into a table that other programs open.
#pragma once

#include <QString>

/// In quotes, since it may hold commas and quotes. A spreadsheet takes what begins in some ways for a formula, which
/// may read files and ask the network; with an apostrophe before it, it is text.
inline QString csvField(QString text)
{
    if (!text.isEmpty() && QStringLiteral("=+-@\t\r").contains(text.front()))
        text.prepend(QLatin1Char('\''));
    return QLatin1Char('"') + text.replace(QLatin1Char('"'), QLatin1String("\"\"")) + QLatin1Char('"');
}
