// Runs the chat on a terminal.
#pragma once

#include "app/cli/session.h"

namespace cli {

/// Reads messages and commands until the user or the input ends, and returns the exit code. Each line of a pipe or a
/// file is a message as it is: there are commands on a terminal only.
int chat(Session& session, const RunOptions& options);

}  // namespace cli
