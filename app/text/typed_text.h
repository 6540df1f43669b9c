// Turns what a person typed into blocks.
#pragma once

#include "app/text/block.h"

/// Line by line as it was typed; only code between fences is shown as code. A fence that nothing closes is text.
QList<Block> typedBlocks(const QString& text);
