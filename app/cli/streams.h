// Sets up the standard streams where systems differ.
#pragma once

namespace cli {

/// Bytes pass stdin and stdout as they are: Windows would turn line ends around. A console speaks UTF-8 until the
/// program ends.
void take_streams();
/// Sets the console as it was before, since it is there longer than the program. Done by itself when the program ends,
/// but for _Exit().
void give_streams_back();

bool stdin_is_terminal();
bool stdout_is_terminal();
bool stderr_is_terminal();

}  // namespace cli
