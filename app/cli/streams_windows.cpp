#include "app/cli/streams.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <io.h>
#include <windows.h>

namespace cli {

namespace {

// 0: there is no console, or it has them again.
std::atomic<UINT> input_code_page{0}, output_code_page{0};

/// Ctrl+C where nobody catches it, and the console's own end.
BOOL WINAPI on_end(DWORD)
{
    give_streams_back();
    return FALSE;
}

bool is_console(DWORD stream)
{
    DWORD mode = 0;  // _isatty() would take NUL for one as well
    return GetConsoleMode(GetStdHandle(stream), &mode) != 0;
}

}  // namespace

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

}  // namespace cli
