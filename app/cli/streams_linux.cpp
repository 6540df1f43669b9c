#include "app/cli/streams.h"

#include <unistd.h>

namespace cli {

void pass_bytes_unchanged() {}

bool stdin_is_terminal()
{
    return isatty(STDIN_FILENO) != 0;
}

bool stderr_is_terminal()
{
    return isatty(STDERR_FILENO) != 0;
}

}  // namespace cli
