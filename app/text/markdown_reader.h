// Makes blocks of what md4c finds in a piece of Markdown.
#pragma once

#include "app/text/markdown.h"
#include "app/text/prepared_text.h"

#include <optional>

/// Returns the blocks of a piece. Empty: it has more cells or nesting than is shown as Markdown.
std::optional<QList<Block>> readMarkdown(const PreparedText& text, const MarkdownPlace& place);
