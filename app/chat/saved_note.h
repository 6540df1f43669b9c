// What a conversation's saved KV was good for, in a sentence.
#pragma once

#include "engine/telemetry.h"

#include <QString>

/// For an event of kind KvRestored or KvPrefilled.
QString savedNote(const engine::Event& event);
