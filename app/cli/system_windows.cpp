#include "app/cli/system.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <io.h>
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

// The console's own code pages. 0: there is no console, or it was set back.
std::atomic<UINT> input_code_page{0}, output_code_page{0};

/// Sets the console back when Ctrl+C is not caught, and when its window is closed.
BOOL WINAPI on_end(DWORD)
{
    give_streams_back();
    return FALSE;
}

bool is_console(DWORD stream)
{
    DWORD mode = 0;  // _isatty() would take NUL for a terminal
    return GetConsoleMode(GetStdHandle(stream), &mode) != 0;
}

}  // namespace

// main()'s arguments are in the process's code page, which the manifest makes UTF-8 from version 1903 on only.
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

void take_streams()
{
    _setmode(_fileno(stdin), _O_BINARY);
    _setmode(_fileno(stdout), _O_BINARY);
    input_code_page = GetConsoleCP();
    output_code_page = GetConsoleOutputCP();
    SetConsoleCP(CP_UTF8);
    SetConsoleOutputCP(CP_UTF8);
    std::atexit(give_streams_back);
    SetConsoleCtrlHandler(on_end, TRUE);
}

void give_streams_back()
{
    if (const UINT before = input_code_page.exchange(0))
        SetConsoleCP(before);
    if (const UINT before = output_code_page.exchange(0))
        SetConsoleOutputCP(before);
}

bool stdin_is_terminal()
{
    return is_console(STD_INPUT_HANDLE);
}

bool stdout_is_terminal()
{
    return is_console(STD_OUTPUT_HANDLE);
}

bool stderr_is_terminal()
{
    return is_console(STD_ERROR_HANDLE);
}

std::optional<std::size_t> stderr_columns()
{
    CONSOLE_SCREEN_BUFFER_INFO info = {};
    if (!GetConsoleScreenBufferInfo(GetStdHandle(STD_ERROR_HANDLE), &info) || info.srWindow.Right < info.srWindow.Left)
        return {};
    return std::size_t(info.srWindow.Right - info.srWindow.Left + 1);
}

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
