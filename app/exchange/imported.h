// importFile() reads the conversations of a file; Imported holds them, or says why there are none.
#pragma once

#include "app/store/conversation.h"

#include <stop_token>

/// Conversations, or one sentence that says why there are none. An id of a conversation is always the same for the same
/// one; those of messages are new, so that nothing there is met by accident.
struct Imported {
    QList<StoredConversation> conversations = {};
    QString error = {};
    int leftOut = 0;  // pictures, calls of tools, damaged lines: what is no part of the conversations now
};

constexpr qint64 kLargestImport_bytes = 256 * 1024 * 1024;

/// Reads a file, whatever it may hold. Takes as long as the file is large; on any thread. `stop` is looked at for every
/// conversation; then there are none, and no error.
Imported importFile(const QString& path, const std::stop_token& stop = {});

/// The id here of a conversation that `program` knows as `id`.
QString idHere(const QString& program, const QString& id);
