// importFile() reads the conversations of a file; Imported holds them, or says why there are none.
#pragma once

#include "app/store/conversation.h"

#include <stop_token>

/// Holds conversations, or one sentence that says why there are none. The same conversation gets the same id each time
/// it is read; messages get new ids, so that they cannot be taken for others that are here.
struct Imported {
    QList<StoredConversation> conversations = {};
    QString error = {};
    int leftOut = 0;  // pictures, calls of tools, damaged lines that were left out of the conversations
};

constexpr qint64 kLargestImport_bytes = 256 * 1024 * 1024;

/// Reads a file, whatever it may hold. May take seconds for a large one; any thread. `stop` is looked at before each
/// conversation; once it is asked for, there are no conversations and no error.
Imported importFile(const QString& path, const std::stop_token& stop = {});

/// Returns the id that a conversation gets here which another program knows as `id`.
QString idHere(const QString& program, const QString& id);
