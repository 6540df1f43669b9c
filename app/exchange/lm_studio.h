// fromLmStudio() reads a conversation of LM Studio: one in a file, *.conversation.json.
#pragma once

#include "app/exchange/imported.h"

#include <QJsonDocument>

bool isOfLmStudio(const QJsonDocument& document);

/// Versions of a message lie side by side; what follows goes on from the one that was selected.
Imported fromLmStudio(const QJsonDocument& document);
