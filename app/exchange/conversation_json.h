// Carries whole conversations to and from JSON; app/exchange/README.md documents the format.
#pragma once

#include "app/exchange/imported.h"

#include <QJsonDocument>
#include <QJsonObject>

constexpr int kJsonVersion = 1;

QJsonObject toJson(const StoredConversation& conversation);

// A file: the beginning, conversations with commas between them, the end.
QByteArray jsonBeginning();
QByteArray jsonOf(const StoredConversation& conversation);
QByteArray jsonEnd();

/// The conversations of such a file, with the ids that it gives them.
Imported fromJson(const QJsonDocument& document, const std::stop_token& stop = {});
