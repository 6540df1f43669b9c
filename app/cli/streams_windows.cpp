#include "app/cli/streams.h"

#include <cstdio>
#include <fcntl.h>
#include <io.h>

namespace cli {

void pass_bytes_unchanged()
{
    _setmode(_fileno(stdin), _O_BINARY);
    _setmode(_fileno(stdout), _O_BINARY);
}

bool stderr_is_terminal()
{
    return _isatty(_fileno(stderr)) != 0;
}

}  // namespace cli
