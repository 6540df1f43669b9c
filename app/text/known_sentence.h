// knownSentence() says in the user's language what some of the program's own rooms say in English.
#pragma once

#include <QString>

/// For what is wrong with fetching, with servers, with keys and with what cannot be written, where such a room knows no
/// Qt: the sentence is found again by its words. Empty: it is none of these, or the language is English. Names, paths
/// and another program's words in it stay as they are. Thread-safe.
QString knownSentence(const QString& what);
