// fromChatGpt() reads what ChatGPT exports: conversations.json, or conversations-000.json and so on.
#pragma once

#include "app/exchange/imported.h"

#include <QJsonDocument>

bool isOfChatGpt(const QJsonDocument& document);

/// Reads a list of conversations, or one. Each is a tree of nodes. Some nodes are no messages, and several in a row may
/// be one answer: its thoughts, its calls of tools, its words.
Imported fromChatGpt(const QJsonDocument& document, const std::stop_token& stop);
