// main()'s arguments are in the process's code page, which the manifest makes UTF-8 from version 1903 on only.
#include "app/cli/arguments.h"

#include <memory>
#include <string_view>
#include <windows.h>

#include <shellapi.h>

namespace cli {

namespace {

std::string utf8(std::wstring_view text)
{
    std::string out(text.size() * 3, '\0');  // UTF-8 takes three bytes for a UTF-16 unit at most
    out.resize(std::size_t(
        WideCharToMultiByte(CP_UTF8, 0, text.data(), int(text.size()), out.data(), int(out.size()), nullptr, nullptr)));
    return out;
}

}  // namespace

std::vector<std::string> arguments(int argc, char** argv)
{
    int count = 0;
    const std::unique_ptr<LPWSTR, decltype(&LocalFree)> wide(CommandLineToArgvW(GetCommandLineW(), &count), LocalFree);
    if (!wide)
        return {argv + 1, argv + argc};
    std::vector<std::string> all;
    for (int i = 1; i < count; ++i)
        all.push_back(utf8(wide.get()[i]));
    return all;
}

}  // namespace cli
