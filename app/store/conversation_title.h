// titleOf() makes the title of a conversation that nobody named.
#pragma once

#include <QString>

/// The first words of its first message; empty when that has none.
QString titleOf(const QString& message);
