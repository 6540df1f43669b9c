#include "app/cli/interrupt.h"
#include "app/cli/line_editor.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <utility>

#ifdef SPILLWAY_READLINE
#include <clocale>
#include <poll.h>
#include <readline/history.h>
#include <readline/readline.h>
#include <unistd.h>
#endif

namespace cli {

std::filesystem::path history_file()
{
    // The XDG specification: a relative path is to be ignored.
    if (const char* const state = std::getenv("XDG_STATE_HOME"); state && state[0] == '/')
        return std::filesystem::path(state) / "spillway" / "cli-history";
    if (const char* const home = std::getenv("HOME"); home && home[0] == '/')
        return std::filesystem::path(home) / ".local/state/spillway/cli-history";
    return {};
}

#ifdef SPILLWAY_READLINE

namespace {

constexpr int kPollMs = 100;  // between two looks whether Ctrl+C was typed

// Global, since Readline calls back without an argument of ours; it exists once in a process.
bool line_done = false;
char* line_typed = nullptr;

void on_line(char* line)
{
    line_typed = line;
    line_done = true;
    rl_callback_handler_remove();
}

int insert_line_break(int, int)
{
    return rl_insert_text("\n"), 0;
}

void prepare()
{
    std::setlocale(LC_CTYPE, "");
    if (MB_CUR_MAX == 1)  // terminals use UTF-8 today, also where the environment does not say so
        std::setlocale(LC_CTYPE, "C.UTF-8");
    rl_readline_name = "spillway-cli";
    rl_outstream = stderr;
    rl_catch_signals = 0;               // our own handler takes Ctrl+C
    rl_persistent_signal_handlers = 1;  // Readline handles a resized window
    rl_change_environment = 0;
    rl_initialize();
    rl_bind_key('\t', rl_insert);
    rl_bind_keyseq("\\e\\C-m", insert_line_break);
    rl_bind_keyseq("\\e\\C-j", insert_line_break);
}

}  // namespace

LineEditor::LineEditor(const std::filesystem::path& history)
    : history_(history)
{
    prepare();
    for (const std::string& line : history_.lines())
        add_history(line.c_str());
}

LineEditor::Line LineEditor::read(const char* prompt)
{
    line_done = false;
    rl_callback_handler_install(prompt, on_line);
    while (!line_done && !interrupted()) {
        pollfd input = {STDIN_FILENO, POLLIN, 0};
        if (poll(&input, 1, kPollMs) > 0)
            rl_callback_read_char();
    }
    if (!line_done) {
        Line line{End::Interrupt, std::string(rl_line_buffer, std::size_t(rl_end))};
        rl_free_line_state();
        rl_callback_sigcleanup();
        rl_callback_handler_remove();
        std::fputs("^C\n", stderr);
        return line;
    }
    if (!line_typed) {
        std::fputs("\n", stderr);
        return {End::OfInput, {}};
    }
    Line line{End::OfLine, line_typed};
    std::free(std::exchange(line_typed, nullptr));
    const auto known = history_.lines().size();
    if (line.text.find_first_not_of(" \t\n") != std::string::npos)
        history_.add(line.text);
    if (history_.lines().size() > known)
        add_history(line.text.c_str());
    return line;
}

#else

LineEditor::LineEditor(const std::filesystem::path& history)
    : history_(history)
{
}

// Reads a line with the terminal's own editing. Ctrl+C is only seen by the next answer; a second one ends the program.
LineEditor::Line LineEditor::read(const char* prompt)
{
    std::fputs(prompt, stderr);
    Line line;
    if (!std::getline(std::cin, line.text))
        return {End::OfInput, {}};
    return line;
}

#endif

}  // namespace cli
