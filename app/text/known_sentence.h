// knownSentence() says in the user's language what some of the program's own rooms say in English.
#pragma once

#include <QString>

/// For what is wrong with keys, and with what cannot be written: there the kind of failure would say the same twice, or
/// something that is not so. Empty: it is none of these, or the language is English. Names, paths and another program's
/// words in it stay as they are. Thread-safe.
QString knownSentence(const QString& what);
