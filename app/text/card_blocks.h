// Turns the text of a model's card into blocks.
#pragma once

#include "app/text/block.h"

/// Returns the blocks of a card, which is Markdown written for a web page, with HTML for its layout: the tags are
/// applied and not shown (see HtmlReader). Images are never loaded. In a card that is too large for that, HTML is shown
/// as it was written.
QList<Block> cardBlocks(const QString& text);
