// hasAllOf() tells whether a conversation from a file is here already.
#pragma once

#include "app/store/conversation.h"

/// Says whether every message of `theirs` is in `ours`, whatever their ids are: one with the same text or, if it was
/// written at the same moment, one that begins with that text and went on since.
bool hasAllOf(const StoredConversation& ours, const StoredConversation& theirs);

/// Returns another id for a conversation that has more than the one which has its id here. It is the same each time the
/// same conversation is imported.
QString idOfOtherCopy(const StoredConversation& conversation);
