// hasAllOf() tells whether a conversation from a file is here already.
#pragma once

#include "app/store/conversation.h"

/// Says whether every message of `theirs` is in `ours`, whatever their ids are: the same words, or, said at the same
/// moment, the beginning of ours, which went on since.
bool hasAllOf(const StoredConversation& ours, const StoredConversation& theirs);

/// The id for a conversation that has more than the one of its own id here: the same whenever the same is imported.
QString idOfOtherCopy(const StoredConversation& conversation);
