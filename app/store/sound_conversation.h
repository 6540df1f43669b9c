// makeSound() repairs the tree of messages of a file that nobody vouches for.
#pragma once

#include "app/store/conversation.h"

/// Puts the messages in order, parents first, so that the tree can be walked: one whose parent is not there, or is
/// below itself, becomes a first message; of two with one id the first stays; the leaf is one of them.
void makeSound(StoredConversation& conversation);
