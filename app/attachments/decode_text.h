// decodeText() turns the bytes of a text file into its text.
#pragma once

#include <QByteArray>
#include <QString>

#include <optional>

/// Returns the text of a file's bytes: UTF-8, UTF-16 or UTF-32 with a byte order mark, else Windows-1252. Line ends
/// become "\n". Nothing where the content is not text: it has zeros, or more control characters than text has.
std::optional<QString> decodeText(const QByteArray& bytes);
