#include "app/cli/profile.h"

#include <cstdlib>

namespace cli {

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
