// What came out of a file.
#pragma once

#include "app/store/conversation.h"

/// Conversations, or one sentence that says why there are none. Ids are new: nothing there is met by accident.
struct Imported {
    QList<StoredConversation> conversations = {};
    QString error = {};
};

constexpr qint64 kLargestImport_bytes = 256 * 1024 * 1024;

/// Reads a file of ours, JSON or Markdown, whatever it may hold. Takes as long as the file is large; on any thread.
Imported importFile(const QString& path);

/// Gives a conversation and its messages ids of their own.
void renewIds(StoredConversation& conversation);
