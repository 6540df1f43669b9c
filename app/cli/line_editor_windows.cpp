#include "app/cli/interrupt.h"
#include "app/cli/line_editor.h"

#include <cstdio>
#include <windows.h>

namespace cli {

namespace {

constexpr std::size_t kLongestTyped = 32768;  // UTF-16 units; a longer line cannot be typed

}  // namespace

// None is needed: the console itself keeps what was typed while its window is open.
std::filesystem::path history_file()
{
    return {};
}

LineEditor::LineEditor(const std::filesystem::path& history)
    : history_(history)
{
}

// Reads a line with the console's own editing and history.
LineEditor::Line LineEditor::read(const char* prompt)
{
    std::fputs(prompt, stderr);
    const HANDLE console = GetStdHandle(STD_INPUT_HANDLE);
    std::wstring typed, piece(kLongestTyped, L'\0');
    while (typed.empty() || typed.back() != L'\n') {
        DWORD count = 0;
        SetLastError(ERROR_SUCCESS);
        const BOOL read = ReadConsoleW(console, piece.data(), DWORD(piece.size()), &count, nullptr);
        if (GetLastError() == ERROR_OPERATION_ABORTED) {
            Sleep(50);  // the handler of Ctrl+C runs on a thread of its own
            return {End::Interrupt, {}};
        }
        if (!read || count == 0 || (typed.empty() && piece[0] == 0x1a))  // Ctrl+Z
            return {End::OfInput, {}};
        typed.append(piece.data(), count);
    }
    Line line;
    line.text.resize(typed.size() * 3);  // UTF-8 takes three bytes for a UTF-16 unit at most
    line.text.resize(std::size_t(WideCharToMultiByte(CP_UTF8, 0, typed.data(), int(typed.size()), line.text.data(),
                                                     int(line.text.size()), nullptr, nullptr)));
    return line;
}

}  // namespace cli
