// Turns the text of a model's card into blocks.
#pragma once

#include "app/text/block.h"

/// A card is Markdown that was written for a web page, with HTML that lays it out: what its tags mean is shown, and not
/// the tags (see HtmlReader). Images are never loaded. A card that is too large for that is shown as any other text,
/// with its HTML as it was written.
QList<Block> cardBlocks(const QString& text);
