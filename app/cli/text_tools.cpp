// tokenize and template: run the tokenizer and the chat template of a model by themselves.
#include "app/cli/command.h"
#include "app/cli/system.h"

#include "engine/text_tools.h"
#include "engine/utf8_path.h"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

namespace cli {

namespace {

struct TokenizeCommand {
    std::string model;
    bool no_bos = false, no_special = false, json = false;
};

int tokenize(const TokenizeCommand& options)
{
    const auto text = read_text("-");
    if (!text)
        return report(text.error());
    const auto tokens =
        engine::tokenize(engine::utf8_path(options.model), *text, {!options.no_bos, !options.no_special});
    if (!tokens)
        return report(tokens.error());
    for (const std::string& warning : tokens->warnings)
        std::fprintf(stderr, "note: %s\n", for_terminal(warning).c_str());
    if (options.json) {
        std::printf("%s\n", nlohmann::ordered_json{{"tokens", tokens->ids}}.dump().c_str());
        return kDone;
    }
    for (std::size_t i = 0; i < tokens->ids.size(); ++i)
        std::printf("%s%d", i ? " " : "", tokens->ids[i]);
    std::puts("");
    return kDone;
}

/// Writes a text as it is; to a terminal without characters that would control it.
void write_text(const std::string& text)
{
    const std::string shown = stdout_is_terminal() ? for_terminal(text) : text;
    std::fwrite(shown.data(), 1, shown.size(), stdout);
}

struct TemplateCommand {
    std::string model, file, messages;
    std::optional<std::string> bos, eos;
    std::string now, tools, arguments;
    bool no_generation_prompt = false, json = false;
};

int render(const TemplateCommand& options)
{
    engine::TemplateSource source;
    if (!options.file.empty()) {
        const auto text = read_text(options.file);
        if (!text)
            return report(text.error());
        source.text = *text;
    } else {
        auto read = engine::read_template(engine::utf8_path(options.model));
        if (!read)
            return report(read.error());
        source = std::move(*read);
    }
    engine::TemplateRequest request;
    const auto messages = read_text(options.messages);
    if (!messages)
        return report(messages.error());
    request.messages_json = *messages;
    if (!options.tools.empty()) {
        const auto tools = read_text(options.tools);
        if (!tools)
            return report(tools.error());
        request.tools_json = *tools;
    }
    request.generation_prompt = !options.no_generation_prompt;
    request.bos = options.bos;
    request.eos = options.eos;
    request.arguments_json = options.arguments;
    request.now = options.now;
    const auto prompt = engine::render_template(source, request);
    if (!prompt)
        return report(prompt.error());
    if (options.json)
        std::printf("%s\n", nlohmann::ordered_json{{"prompt", *prompt}}
                                .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
                                .c_str());
    else
        write_text(*prompt);
    return kDone;
}

}  // namespace

void add_text_tools(CLI::App& app, int& exit_code)
{
    auto* command = app.add_subcommand("tokenize", "Token ids of standard input, on one line");
    auto t = std::make_shared<TokenizeCommand>();
    command->add_option("-m,--model", t->model, "GGUF file; one with a vocabulary only will do")->required();
    command->add_flag("--no-bos", t->no_bos, "do not put the beginning-of-text token first");
    command->add_flag("--no-special", t->no_special, "take special tokens in the text as plain text");
    command->add_flag("--json", t->json);
    command->callback([t, &exit_code] { exit_code = tokenize(*t); });

    command = app.add_subcommand("template", "Render a chat template");
    auto r = std::make_shared<TemplateCommand>();
    auto* source = command->add_option_group("source");
    source->add_option("-m,--model", r->model, "GGUF file");
    source->add_option("--template", r->file, "template file");
    source->require_option(1);
    command->add_option("--messages", r->messages, "JSON file: an array of {role, content}; - is standard input")
        ->required();
    command->add_flag("--no-generation-prompt", r->no_generation_prompt);
    command->add_option("--bos", r->bos, "text of the beginning-of-text token");
    command->add_option("--eos", r->eos, "text of the end token");
    command->add_option("--now", r->now, "the time that strftime_now sees: 2026-07-26T12:00:00");
    command->add_option("--tools", r->tools, "JSON file: an array of tools");
    command->add_option("--template-args", r->arguments, "JSON object of further variables");
    command->add_flag("--json", r->json);
    command->callback([r, &exit_code] { exit_code = render(*r); });
}

}  // namespace cli
