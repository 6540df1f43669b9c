// LineEditor reads a line that is typed on a terminal.
#pragma once

#include "app/cli/input_history.h"

#include <filesystem>
#include <string>

namespace cli {

/// Reads lines from the terminal on standard input, prompting on stderr: with editing, and with what was typed before,
/// where the system or a library offers that. A pasted text of several lines is one line. One at a time.
class LineEditor
{
public:
    /// `history`: where typed lines are kept from one run to the next; empty: not kept.
    explicit LineEditor(const std::filesystem::path& history);

    enum class End { OfLine, OfInput, Interrupt };
    struct Line {
        End end = End::OfLine;
        std::string text;  // UTF-8; with Interrupt: what had been typed
    };
    Line read(const char* prompt);

private:
    InputHistory history_;
};

/// Returns where the lines typed in a chat are kept; empty: nowhere.
std::filesystem::path history_file();

}  // namespace cli
