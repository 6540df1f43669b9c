// savedNote() says in a sentence how much work a conversation's saved KV spared.
#pragma once

#include "engine/telemetry.h"

#include <QString>

/// Returns the sentence for an event of kind KvRestored or KvPrefilled.
QString savedNote(const engine::Event& event);
