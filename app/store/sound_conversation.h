// makeSound() repairs the tree of messages of a file whose contents cannot be trusted.
#pragma once

#include "app/store/conversation.h"

/// Puts the messages in order, parents first. A message whose parent is missing, or is its own descendant, becomes a
/// first message; of two with the same id the first stays; a leaf that is no message is replaced.
void makeSound(StoredConversation& conversation);
