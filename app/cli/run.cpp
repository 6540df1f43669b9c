// run: prints one answer, or chats on the terminal.
#include "app/cli/chat.h"
#include "app/cli/interrupt.h"
#include "app/cli/pull.h"
#include "engine/answer_grammar.h"
#include "engine/utf8_path.h"

#include <memory>
#include <utility>

namespace cli {

namespace {

/// Reads the files of a grammar and of a JSON schema, and checks both before a model is loaded.
engine::Status read_rules(RunOptions& options)
{
    for (const auto& [file, text] : {std::pair(&options.grammar_file, &options.grammar),
                                     std::pair(&options.json_schema_file, &options.json_schema)}) {
        if (file->empty())
            continue;
        auto read = read_text(*file);
        if (!read)
            return tl::unexpected(read.error());
        if (read->empty())
            return engine::fail(engine::Error::Code::BadRequest, *file + " is empty");
        *text = std::move(*read);
    }
    if (!options.json_schema.empty())
        if (const auto gbnf = engine::gbnf_of_json_schema(options.json_schema); !gbnf)
            return tl::unexpected(gbnf.error());
    return options.grammar.empty() ? engine::Status() : engine::check_grammar(options.grammar);
}

int run(RunOptions& options)
{
    catch_interrupts();
    if (const engine::Status ok = read_rules(options); !ok)
        return report(ok.error());
    std::string prompt = options.prompt.value_or("");
    if (options.prompt && prompt.empty() && options.file.empty())  // nor would a script want one, of its own input
        return report({engine::Error::Code::BadRequest, "the prompt is empty"});
    if (!options.file.empty()) {
        const auto text = read_text(options.file);
        if (!text)
            return report(text.error());
        if (text->empty())  // with no prompt it would be a chat
            return report({engine::Error::Code::BadRequest,
                           (options.file == "-" ? "standard input" : options.file) + " is empty"});
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
    if (prompt.empty())
        return chat(session, options);
    const int code = session.answer(prompt);
    return session.stopped() ? kInterrupted : code;  // a script must not take half an answer for a whole one
}

}  // namespace

void add_run(CLI::App& app, int& exit_code)
{
    auto* command = app.add_subcommand("run", "Answer a prompt, or chat on the terminal");
    command->footer(
        "Control characters of the answer are left out, wherever it goes: what is piped is often looked at\n"
        "on a terminal after all. With --json the text is as the model wrote it, escaped.");
    auto r = std::make_shared<RunOptions>();
    auto* model = r->common.add_to(*command, "name,");
    auto* remote = model->add_option("--remote", r->remote,
                                     "address of a server that answers in place of this machine, such as "
                                     "192.168.0.5:8000");
    command->add_option("--remote-model", r->remote_model, "which of its models; without it, its only one")
        ->needs(remote);
    command
        ->add_option("--api-key-file", r->api_key_file,
                     "a file with the key that it asks for; or it is in SPILLWAY_API_KEY")
        ->needs(remote);
    add_sampling(*command, r->sampling);
    command->add_option("-p,--prompt", r->prompt,
                        "the prompt; without one the terminal is a chat, and each line of a pipe is a message");
    command->add_option("-f,--file", r->file, "a file with the prompt; - is standard input");
    command->add_option("--system", r->system, "system prompt");
    command->add_option("-n,--predict,--n-predict", r->max_tokens, "tokens of the answer at most; -1: until it ends");
    r->draft.add_to(*command);
    command->add_option("--stop", r->stop, "a text that ends the answer; may be given several times")
        ->allow_extra_args(false);  // else "[END]" is a list, and what follows a further text
    auto* rules = command->add_option_group("rules", "What the answer is held to, behind its thoughts");
    rules->add_option("--grammar", r->grammar, "rules in GBNF; the answer follows the rule root");
    rules->add_option("--grammar-file", r->grammar_file, "a file with them");
    rules->add_option("-j,--json-schema", r->json_schema, "a JSON schema that the answer fits; {}: any JSON");
    rules->add_option("--json-schema-file,--jf", r->json_schema_file, "a file with it");
    rules->require_option(0, 1);
    command->add_option("--template-args", r->template_arguments, "JSON object of further template variables");
    command->add_flag("--raw", r->raw, "no chat template: the model continues the prompt");
    command
        ->add_flag("--tokens", r->tokens,
                   "with --json: the ids of the answer's tokens, and the ms from each to the next")
        ->excludes(remote);
    command->add_flag("--no-history", r->no_history, "do not keep what is typed for the up arrow of the next chat");
    command->add_flag("--drop-oldest", r->drop_oldest, "when the context is full, leave out the oldest turns");
    command->callback([r, &exit_code] { exit_code = run(*r); });
}

}  // namespace cli
