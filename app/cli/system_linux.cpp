#include "app/cli/system.h"

#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

namespace cli {

std::vector<std::string> arguments(int argc, char** argv)
{
    return {argv + 1, argv + argc};
}

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

std::optional<std::size_t> stderr_columns()
{
    winsize size{};
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return {};
    return size.ws_col;
}

std::filesystem::path data_folder()
{
    // The XDG specification: a relative path is to be ignored.
    if (const char* const data = std::getenv("XDG_DATA_HOME"); data && data[0] == '/')
        return std::filesystem::path(data) / "spillway";
    if (const char* const home = std::getenv("HOME"); home && home[0] == '/')
        return std::filesystem::path(home) / ".local/share/spillway";
    return {};
}

std::filesystem::path home_folder()
{
    const char* const home = std::getenv("HOME");
    return home ? home : "";
}

}  // namespace cli
