// The standard streams, where systems differ.
#pragma once

namespace cli {

/// Bytes pass stdin and stdout as they are: Windows would turn line ends around.
void pass_bytes_unchanged();

bool stdin_is_terminal();
bool stderr_is_terminal();

}  // namespace cli
