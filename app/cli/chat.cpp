#include "app/cli/chat.h"

#include "app/cli/interrupt.h"
#include "app/cli/line_editor.h"
#include "app/cli/system.h"
#include "engine/utf8_path.h"

#include <cstdio>
#include <iostream>
#include <string_view>

namespace cli {

namespace {

constexpr const char* kHelp =
    "  /new           a new conversation\n"
    "  /regen         another answer to the last message\n"
    "  /system TEXT   the system prompt, from the next message on; without TEXT: none\n"
    "  /save FILE     the conversation as Markdown\n"
    "  /help          this\n"
    "  /quit          end; so do Ctrl+D and Ctrl+C twice\n"
    "Ctrl+C stops an answer, Alt+Enter breaks a line, the up arrow brings back what was typed.\n"
    "A message that begins with a slash is typed with two.\n";

enum class Next { Line, End };

/// Returns the path that a user typed; "~/" stands for the home folder, as in shells.
std::filesystem::path path_of(const std::string& text)
{
    const std::filesystem::path home = home_folder();
    if (!home.empty() && text.starts_with("~/"))
        return home / engine::utf8_path(text.substr(2));
    return engine::utf8_path(text);
}

std::string trimmed(std::string_view text)
{
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos)
        return {};
    return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

Next carry_out(Session& session, const std::string& line)
{
    const auto space = line.find_first_of(" \t\n");
    const std::string command = line.substr(0, space);
    const std::string argument = space == std::string::npos ? std::string() : trimmed(line.substr(space));
    if (command == "/quit" || command == "/exit" || command == "/bye")
        return Next::End;
    if (command == "/help" || command == "/?") {
        std::fputs(kHelp, stderr);
    } else if (command == "/new") {
        session.start_over();
        std::fputs("A new conversation.\n", stderr);
    } else if (command == "/regen") {
        session.again();
    } else if (command == "/system") {
        const bool set = session.set_system(argument);
        std::fputs(!set ? "There is no system prompt where text is continued (--raw, or a model without a "
                          "chat template).\n"
                   : argument.empty() ? "No system prompt.\n"
                                      : "The system prompt is set.\n",
                   stderr);
    } else if (command == "/save" && !argument.empty()) {
        if (const auto saved = session.save(path_of(argument)); !saved)
            report(saved.error());
        else
            std::fprintf(stderr, "Saved as %s.\n", for_terminal(argument).c_str());
    } else if (command == "/save") {
        std::fputs("Say where: /save FILE\n", stderr);
    } else {
        std::fprintf(stderr, "There is no command %s; /help lists them.\n", for_terminal(command).c_str());
    }
    return Next::Line;
}

Next take(Session& session, std::string line)
{
    line = trimmed(line);
    if (line.empty())
        return Next::Line;
    if (line.starts_with("//"))
        line.erase(0, 1);
    else if (line.starts_with('/'))
        return carry_out(session, line);
    session.answer(line);
    return Next::Line;
}

int chat_on_terminal(Session& session, const RunOptions& options)
{
    LineEditor editor(options.no_history ? std::filesystem::path() : history_file());
    std::fputs("Type a message, or /help. Ctrl+D ends.\n", stderr);
    bool warned = false;  // after Ctrl+C on an empty line: the next one ends the chat
    for (;;) {
        const LineEditor::Line line = editor.read("> ");
        clear_interrupts();
        switch (line.end) {
        case LineEditor::End::OfInput:
            return kDone;
        case LineEditor::End::Interrupt:
            if (!line.text.empty())
                break;  // it only discards what was typed
            if (warned)
                return kDone;
            std::fputs("Ctrl+C again or Ctrl+D ends.\n", stderr);
            warned = true;
            break;
        case LineEditor::End::OfLine:
            warned = false;
            if (take(session, line.text) == Next::End)
                return kDone;
            break;
        }
    }
}

}  // namespace

int chat(Session& session, const RunOptions& options)
{
    if (stdin_is_terminal())
        return chat_on_terminal(session, options);
    int code = kDone;
    for (std::string line; std::getline(std::cin, line);) {
        if (line = trimmed(line); line.empty())
            continue;
        if (session.answer(line) != kDone)
            code = kFailed;
        if (session.stopped())  // Ctrl+C ends all: no user can go on with the next line
            return kInterrupted;
    }
    return code;
}

}  // namespace cli
