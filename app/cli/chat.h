// Runs the chat on a terminal.
#pragma once

#include "app/cli/session.h"

namespace cli {

/// Reads messages and commands until the user or the input ends; the exit code. A line of a pipe or a file is a message
/// as it is: commands are a terminal's.
int chat(Session& session, const RunOptions& options);

}  // namespace cli
