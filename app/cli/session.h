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

    /// An exit code; kDone when the model is there.
    int open();

    /// Asks and prints the answer. A failed question leaves the conversation as it was.
    int answer(const std::string& prompt);
    /// Says whether Ctrl+C ended the last answer.
    bool stopped() const { return stopped_; }
    /// Asks the last question once more, in place of its answer. Without one: a sentence.
    int again();
    /// A new conversation with the same system prompt.
    void start_over();
    /// False: text is continued here, and nothing was set.
    bool set_system(const std::string& text);
    /// The conversation as Markdown, into a file that is not there yet.
    engine::Status save(const std::filesystem::path& file) const;

private:
    int ask();
    int print_answer(const engine::Request& request);

    RunOptions& options_;
    std::unique_ptr<engine::Engine> engine_;
    engine::SequenceId sequence_ = 0;
    std::vector<engine::Message> messages_;  // of a base model: the last text and what came of it
    engine::SamplingOptions sampling_;
    bool raw_ = false, stopped_ = false;
};

}  // namespace cli
