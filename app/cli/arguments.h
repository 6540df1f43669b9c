// Declares the command line of spillway-cli.
#pragma once

#include <string>
#include <vector>

namespace cli {

/// What follows the program's name, in UTF-8.
std::vector<std::string> arguments(int argc, char** argv);

}  // namespace cli
