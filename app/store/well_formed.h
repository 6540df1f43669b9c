// wellFormed() makes text that can be kept as UTF-8.
#pragma once

#include <QString>

/// The text with U+FFFD in place of each half of a surrogate pair whose other half is missing. SQLite would take the
/// character behind such a half for the other one.
QString wellFormed(QString text);
