// Gives spillway-cli what systems do in different ways: the command line, the standard streams, the user's folders.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace cli {

/// Returns what follows the program's name, in UTF-8.
std::vector<std::string> arguments(int argc, char** argv);

// ---- streams ----

/// Lets bytes pass stdin and stdout as they are, where Windows would change line ends. Sets a console to UTF-8 until
/// the program ends.
void take_streams();
/// Sets the console as it was before, since it outlives the program. This happens by itself when the program ends, but
/// not at _Exit().
void give_streams_back();

bool stdin_is_terminal();
bool stdout_is_terminal();
bool stderr_is_terminal();
/// Returns the columns of the terminal that shows stderr. Nothing: it is no terminal, or its width is not known.
std::optional<std::size_t> stderr_columns();

// ---- folders ----

// The same as the window's (app/system/profile_folders.h), without Qt.

/// Return the folder of this program's files, and the user's own. Empty where the environment names none.
std::filesystem::path data_folder();
std::filesystem::path home_folder();

}  // namespace cli
