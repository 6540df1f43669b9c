// Writes and reads a conversation as Markdown: the path that is shown. app/exchange/README.md documents the format.
#pragma once

#include "app/exchange/imported.h"

QByteArray toMarkdown(const StoredConversation& conversation);

/// The conversation of such a file, with ids that hold within it.
Imported fromMarkdown(const QByteArray& bytes);
