#include "app/cli/streams.h"

#include <unistd.h>

namespace cli {

void take_streams() {}
void give_streams_back() {}

bool stdin_is_terminal()
{
    return isatty(STDIN_FILENO) != 0;
}

bool stdout_is_terminal()
{
    return isatty(STDOUT_FILENO) != 0;
}

bool stderr_is_terminal()
{
    return isatty(STDERR_FILENO) != 0;
}

}  // namespace cli
