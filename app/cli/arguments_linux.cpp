#include "app/cli/arguments.h"

namespace cli {

std::vector<std::string> arguments(int argc, char** argv)
{
    return {argv + 1, argv + argc};
}

}  // namespace cli
