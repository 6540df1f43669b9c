// Conversations as Markdown: the path that is shown, for reading. app/exchange/README.md documents it.
#pragma once

#include "app/exchange/imported.h"

QByteArray toMarkdown(const StoredConversation& conversation);

/// The conversation of such a file, with ids that hold within it.
Imported fromMarkdown(const QByteArray& bytes);
