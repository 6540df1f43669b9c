// run: one answer, or a chat on the terminal.
#include "app/cli/chat.h"
#include "app/cli/interrupt.h"
#include "app/cli/pull.h"
#include "engine/utf8_path.h"

#include <memory>

namespace cli {

namespace {

int run(RunOptions& options)
{
    catch_interrupts();
    std::string prompt = options.prompt;
    if (!options.file.empty()) {
        const auto text = read_text(options.file);
        if (!text)
            return report(text.error());
        prompt = *text;
    }
    if (names_a_model_elsewhere(options.common.model)) {
        const auto model = fetched_model(options.common.model);
        if (!model)
            return kFailed;  // it was said already
        options.common.model = engine::utf8_text(*model);
    }
    Session session(options);
    if (const int failed = session.open())
        return failed;
    return prompt.empty() ? chat(session, options) : session.answer(prompt);
}

}  // namespace

void add_run(CLI::App& app, int& exit_code)
{
    auto* command = app.add_subcommand("run", "Answer a prompt, or chat on the terminal");
    command->footer(
        "Control characters of the answer are left out, wherever it goes: what is piped is often looked at\n"
        "on a terminal after all. With --json the text is as the model wrote it, escaped.");
    auto r = std::make_shared<RunOptions>();
    r->common.add_to(*command, "name,");
    add_sampling(*command, r->sampling);
    command->add_option("-p,--prompt", r->prompt, "the prompt; without one the terminal is a chat");
    command->add_option("-f,--file", r->file, "a file with the prompt; - is standard input");
    command->add_option("--system", r->system, "system prompt");
    command->add_option("-n,--predict", r->max_tokens, "tokens of the answer at most; -1: until it ends");
    r->draft.add_to(*command);
    command->add_option("--stop", r->stop, "a text that ends the answer; may be given several times");
    command->add_option("--template-args", r->template_arguments, "JSON object of further template variables");
    command->add_flag("--raw", r->raw, "no chat template: the model continues the prompt");
    command->add_flag("--no-history", r->no_history, "do not keep what is typed for the up arrow of the next chat");
    command->add_flag("--drop-oldest", r->drop_oldest, "when the context is full, leave out the oldest turns");
    command->callback([r, &exit_code] { exit_code = run(*r); });
}

}  // namespace cli
