// promptText() puts attached files into the text of a prompt.
//
// Each file is a line with its name and a fenced block with its text, and what the user typed comes after them:
//
//     File: notes.md
//
//     ```markdown
//     the text
//     ```
//
//     What does this say?
//
// The fence is one backtick longer than the longest run of them in the text, three at least, so that nothing in a file
// can close it and pass for the user's words. The name is one line without control characters. Special tokens spelled
// out in a file are the engine's business: in a user's message they are text.
#pragma once

#include "app/store/conversation.h"

/// Returns one file as above, without a line break at its end. Its tokens are counted of this text.
QString promptText(const Attachment& attachment);

/// Returns a whole message: the files in their order, then the text as it was typed.
QString promptText(const QString& text, const QList<Attachment>& attachments);
