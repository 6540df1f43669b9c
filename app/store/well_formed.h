// wellFormed() makes text that can be kept as UTF-8.
#pragma once

#include <QString>

/// Returns the text with U+FFFD in place of each half of a surrogate pair whose other half is missing. SQLite would
/// take the character after a single half for its other half.
QString wellFormed(QString text);
