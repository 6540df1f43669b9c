// fromJan() reads a conversation of Jan: messages.jsonl, a message in a line, and thread.json beside it.
#pragma once

#include "app/exchange/imported.h"

#include <QJsonDocument>

inline constexpr const char* kJanMessages = "messages.jsonl";
inline constexpr const char* kJanThread = "thread.json";

bool isJanMessages(const QByteArray& bytes);
bool isJanThread(const QJsonDocument& document);

/// Reads the lines of messages.jsonl; damaged ones are left out. `thread` holds the title and the instructions, and may
/// be null.
Imported fromJan(const QByteArray& messages, const QJsonDocument& thread);
