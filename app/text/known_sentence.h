// knownSentence() translates sentences that parts of the program without Qt say in English.
#pragma once

#include <QString>

/// Returns the translation of an error about fetching, servers, keys or writing; such a sentence is recognised by its
/// words. Empty: it is not known, or the language is English. Names, paths and another program's words in it stay as
/// they are. Thread-safe.
QString knownSentence(const QString& what);
