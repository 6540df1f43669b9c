// csvField() writes a text into a table that other programs open.
#pragma once

#include <QString>

/// Returns the text in quotes, since it may hold commas and quotes. A spreadsheet takes text with certain beginnings
/// for a formula, which may read files and use the network; an apostrophe before it makes it text.
inline QString csvField(QString text)
{
    if (!text.isEmpty() && QStringLiteral("=+-@\t\r").contains(text.front()))
        text.prepend(QLatin1Char('\''));
    return QLatin1Char('"') + text.replace(QLatin1Char('"'), QLatin1String("\"\"")) + QLatin1Char('"');
}
