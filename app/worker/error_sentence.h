// errorSentence() says in the user's language what went wrong in the engine.
#pragma once

#include "engine/result.h"

#include <QString>

/// One sentence. The engine speaks English: in another language the kind of error is said in that one, and what exactly
/// happened follows in brackets as the engine put it, unless it is a knownSentence(). Thread-safe.
QString errorSentence(const engine::Error& error);
