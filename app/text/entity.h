// Decodes HTML's entities, as Markdown uses them.
#pragma once

#include <QString>

/// Returns the character for "&amp;" or "&#38;", made visible where it would hide; any other text is returned as it is.
QString decodedEntity(const QString& entity);

/// Returns the text with its entities decoded once.
QString withDecodedEntities(const QString& text);
