// Spells out HTML's entities, as Markdown has them.
#pragma once

#include <QString>

/// The character behind "&amp;" or "&#38;", made visible where it would hide; what is none stays as it is.
QString decodedEntity(const QString& entity);

/// The text with all of its entities decoded, once.
QString withDecodedEntities(const QString& text);
