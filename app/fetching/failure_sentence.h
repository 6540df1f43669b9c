// failureSentence() says in the user's language why something could not be fetched.
#pragma once

#include "app/net/failure.h"

#include <QString>

/// Returns one sentence and, if a token would help, a second one that says where to enter it. Failures of app/net are
/// in English: in another language the sentence says the kind of failure, with the English words in brackets, unless
/// they are a knownSentence(). Thread-safe.
QString failureSentence(const net::Failure& failure);
