// Guesses from a file's name what it holds; its content decides whether it can be read.
#pragma once

#include <QString>

/// Returns "markdown", "code" or "text": the kinds of Attachment that are text.
QString kindOfText(const QString& fileName);

/// Returns the language's name as it follows a Markdown fence: "cpp", "python"... Empty for plain text and for names
/// that say nothing.
QString languageOf(const QString& fileName);
