// decodeText() turns the bytes of a text file into its text.
#pragma once

#include <QByteArray>
#include <QString>

#include <optional>

/// The text of a file that is text: UTF-8, UTF-16 or UTF-32 with its mark, or else Windows' Latin letters. Line ends
/// become "\n". Empty when the content is not text: zeros, or more control characters than text has.
std::optional<QString> decodeText(const QByteArray& bytes);
