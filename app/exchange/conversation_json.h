// Carries whole conversations to and from JSON; app/exchange/README.md documents the format.
#pragma once

#include "app/exchange/imported.h"

#include <QJsonDocument>
#include <QJsonObject>

constexpr int kJsonVersion = 1;

QJsonObject toJson(const StoredConversation& conversation);

// A file is jsonBeginning(), jsonOf() of each conversation with commas between them, and jsonEnd().
QByteArray jsonBeginning();
QByteArray jsonOf(const StoredConversation& conversation);
QByteArray jsonEnd();

/// Reads the conversations of such a file, with the ids that they have there.
Imported fromJson(const QJsonDocument& document, const std::stop_token& stop = {});
