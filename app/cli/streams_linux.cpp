#include "app/cli/streams.h"

#include <unistd.h>

namespace cli {

void pass_bytes_unchanged() {}

bool stderr_is_terminal()
{
    return isatty(STDERR_FILENO) != 0;
}

}  // namespace cli
