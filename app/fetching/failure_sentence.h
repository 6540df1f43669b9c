// failureSentence() says in the user's language why something could not be fetched.
#pragma once

#include "app/net/failure.h"

#include <QString>

/// One sentence, and another one where a token would help, on where that is entered. The network's code speaks English:
/// in another language the kind of failure is said in that one, and what exactly happened follows in brackets, unless
/// it is a knownSentence(). Thread-safe.
QString failureSentence(const net::Failure& failure);
