// Turns what a person typed into blocks.
#pragma once

#include "app/text/block.h"

/// Returns the text line by line as it was typed; only code between fences is shown as code. A fence that is not closed
/// is text.
QList<Block> typedBlocks(const QString& text);
