// Makes blocks of what md4c finds in a piece of Markdown.
#pragma once

#include "app/text/markdown.h"
#include "app/text/prepared_text.h"

#include <optional>

/// Empty when the piece is more than we want to show as Markdown.
std::optional<QList<Block>> readMarkdown(const PreparedText& text, const MarkdownPlace& place);
