// toMarkdown() writes the shown path of a conversation as Markdown, and fromMarkdown() reads it.
// app/exchange/README.md documents the format.
#pragma once

#include "app/exchange/imported.h"

QByteArray toMarkdown(const StoredConversation& conversation);

/// Reads the conversation of such a file. Its messages' ids are unique within the file only.
Imported fromMarkdown(const QByteArray& bytes);
