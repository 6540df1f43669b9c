// errorSentence() says in the user's language what went wrong in the engine.
#pragma once

#include "engine/result.h"

#include <QString>

/// Returns one sentence. The engine speaks English: in another language the sentence names the kind of error, and the
/// engine's own words follow in brackets, unless they are a knownSentence(). Thread-safe.
QString errorSentence(const engine::Error& error);
