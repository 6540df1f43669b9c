// fromLmStudio() reads a conversation of LM Studio: one in a file, *.conversation.json.
#pragma once

#include "app/exchange/imported.h"

#include <QJsonDocument>

bool isOfLmStudio(const QJsonDocument& document);

/// Reads a conversation. Versions of a message lie side by side in the file; what follows belongs to the selected one.
Imported fromLmStudio(const QJsonDocument& document);
