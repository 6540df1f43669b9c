// Guesses from a file's name what it holds; its content decides whether it can be read.
#pragma once

#include <QString>

/// "markdown", "code" or "text": the kinds of Attachment that are text.
QString kindOfText(const QString& fileName);

/// The word after a fence: "cpp", "python"... Empty for plain text and for names that say nothing.
QString languageOf(const QString& fileName);
