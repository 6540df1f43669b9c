// LineEditor reads a line that is typed on a terminal.
#pragma once

#include "app/cli/input_history.h"

#include <filesystem>
#include <string>

namespace cli {

/// Reads lines from the terminal on standard input, with a prompt on stderr; with editing and a history where the
/// system or a library has them. A pasted text of several lines is then one line. One object at a time.
class LineEditor
{
public:
    /// `history`: the file in which typed lines are kept from one run to the next; empty: they are not kept.
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

/// Returns the file in which the lines typed in a chat are kept; empty: they are not.
std::filesystem::path history_file();

}  // namespace cli
