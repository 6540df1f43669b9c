// applySettings() puts a conversation's settings into a request to the engine.
#pragma once

#include "app/store/conversation.h"
#include "engine/engine.h"

/// Puts the settings into a request that holds the program's own: sampling and length replace them where they are set,
/// the template's arguments are given, and the system prompt goes before the messages (a model without a chat template
/// has no place for one). What does not make sense is left at the program's value: settings come from files too.
void applySettings(const ConversationSettings& settings, engine::Request& request);
