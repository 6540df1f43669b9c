// fromChatGpt() reads what ChatGPT exports: conversations.json, or conversations-000.json and so on.
#pragma once

#include "app/exchange/imported.h"

#include <QJsonDocument>

bool isOfChatGpt(const QJsonDocument& document);

/// A list of conversations, or one. Each is a tree of nodes, of which some are no messages, and several in a row may be
/// one answer: its thoughts, what it asked of tools, its words.
Imported fromChatGpt(const QJsonDocument& document, const std::stop_token& stop);
