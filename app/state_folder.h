// Where the program may write what it can do without: logs, crash notes.
#pragma once

#include <QString>

/// The folder for this user's state, made if it was not there. Empty when it cannot be made.
QString stateFolder();
