#include "app/cli/profile.h"

#include <cstdlib>

namespace cli {

std::filesystem::path data_folder()
{
    const wchar_t* const local = _wgetenv(L"LOCALAPPDATA");
    const std::filesystem::path folder = local ? local : L"";
    return folder.is_absolute() ? folder / "spillway" : std::filesystem::path();
}

std::filesystem::path home_folder()
{
    const wchar_t* const home = _wgetenv(L"USERPROFILE");
    return home ? home : L"";
}

}  // namespace cli
