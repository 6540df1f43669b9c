// titleOf() makes the title of a conversation that nobody named.
#pragma once

#include <QString>

/// Returns the first words of the conversation's first message; empty where it has none.
QString titleOf(const QString& message);
