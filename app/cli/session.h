// Session holds a conversation with one model on the terminal.
#pragma once

#include "app/cli/run_options.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace cli {

/// Loads the model, keeps the conversation and prints its answers. One thread; owned by run().
class Session
{
public:
    explicit Session(RunOptions& options);

    /// Loads the model. Returns an exit code; kDone: the model is loaded.
    int open();

    /// Asks and prints the answer. Returns an exit code. A failed question leaves the conversation as it was.
    int answer(const std::string& prompt);
    /// Says whether Ctrl+C ended the last answer.
    bool stopped() const { return stopped_; }
    /// Asks the last question once more; the new answer replaces the old one. Without an answer it prints an error.
    int again();
    /// Begins a new conversation with the same system prompt.
    void start_over();
    /// Sets the system prompt; empty: none. False: this session continues text, so nothing was set.
    bool set_system(const std::string& text);
    /// Writes the conversation as Markdown into a file that must not exist yet.
    engine::Status save(const std::filesystem::path& file) const;

private:
    int ask();
    int print_answer(const engine::Request& request);

    RunOptions& options_;
    std::unique_ptr<engine::Engine> engine_;
    engine::SequenceId sequence_ = 0;
    std::vector<engine::Message> messages_;  // where text is continued: the last text and what the model wrote
    engine::SamplingOptions sampling_;
    bool raw_ = false, stopped_ = false;
};

}  // namespace cli
