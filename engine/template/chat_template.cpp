// Renders chat templates: here the exceptions of the template language become results.
#include "engine/template/chat_template.h"

#include "engine/template/free_names.h"
#include "engine/template/interpreter.h"
#include "engine/template/lexer.h"
#include "engine/template/parser.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <new>
#include <nlohmann/json.hpp>

namespace engine {

constexpr std::size_t kLargestSource = 512u << 10;  // real templates have at most some 30 KiB
constexpr std::string_view kProbe = "xqx";          // no template writes it by itself

// The steps that a template may take for each pair of messages, so that each message may look at each other one. Gemma
// 4's template takes 8.
constexpr std::int64_t kStepsPerPair = 64;
constexpr std::chrono::microseconds kTimePerPair{10};
constexpr std::size_t kMostWithPairs = 4096;  // messages; Gemma 4's template goes on to four times as many

void RenderOptions::allow_for(std::size_t messages)
{
    const auto count = std::int64_t(std::min(messages, kMostWithPairs));
    max_steps += kStepsPerPair * count * count;
    max_time += std::chrono::duration_cast<std::chrono::milliseconds>(kTimePerPair * count * count);
}

static nlohmann::ordered_json in_a_list(std::string_view text)
{
    return nlohmann::ordered_json::array({{{"type", "text"}, {"text", text}}});
}

static Error error_of(const jinja::TemplateError& error, int line)
{
    std::string what = error.what;
    if (error.line > 0)
        line = error.line;
    if (!error.verbatim && line > 0)
        what += " (line " + std::to_string(line) + " of the chat template)";
    return Error{Error::Code::Template, std::move(what)};
}

Result<ChatTemplate> ChatTemplate::parse(const std::string& source)
{
    if (source.size() > kLargestSource)
        return fail(Error::Code::Template, "the chat template is larger than 512 KiB");
    try {
        auto syntax = jinja::Parser(jinja::tokenize(source)).run();
        auto names = jinja::free_names(*syntax);
        ChatTemplate made(std::move(syntax), std::move(names));
        if (source.find("text") != std::string::npos)  // templates that take parts name the kind "text"
            made.takes_parts_only_ = !made.writes(kProbe) && made.writes(in_a_list(kProbe));
        return made;
    } catch (const jinja::TemplateError& error) {
        return tl::unexpected(error_of(error, 0));
    } catch (const std::bad_alloc&) {
        return fail(Error::Code::NoMemory, "no memory to read the chat template");
    }
}

Result<std::string> ChatTemplate::render(const nlohmann::ordered_json& variables, const RenderOptions& options) const
{
    auto rendered = render_traced(variables, options);
    if (!rendered)
        return tl::unexpected(rendered.error());
    return rendered->take_bytes();
}

Result<TracedText> ChatTemplate::render_traced(const nlohmann::ordered_json& variables,
                                               const RenderOptions& options) const
{
    if (!variables.is_object())
        return fail(Error::Code::BadRequest, "the variables of a chat template must be a JSON object");
    const auto note_left = [&](std::int64_t steps) {
        if (options.steps_left)
            *options.steps_left = std::max<std::int64_t>(steps, 0);
    };
    try {
        note_left(0);  // where making the variables alone takes too many
        jinja::Interpreter interpreter(*syntax_, variables, options);
        try {
            auto text = interpreter.run();
            note_left(interpreter.heap.budget.steps_left());
            return text;
        } catch (const jinja::TemplateError& error) {
            note_left(interpreter.heap.budget.steps_left());
            return tl::unexpected(error_of(error, interpreter.line()));
        }
    } catch (const jinja::Stopped&) {
        return fail(Error::Code::Cancelled, "the rendering of the chat template was stopped");
    } catch (const jinja::TemplateError& error) {
        return tl::unexpected(error_of(error, 0));
    } catch (const std::bad_alloc&) {
        return fail(Error::Code::NoMemory, "no memory to render the chat template");
    }
}

nlohmann::ordered_json ChatTemplate::content(std::string_view text) const
{
    return takes_parts_only_ ? in_a_list(text) : nlohmann::ordered_json(text);
}

/// Says whether the rendered text has the words of a message whose content has this form.
bool ChatTemplate::writes(const nlohmann::ordered_json& content) const
{
    RenderOptions options;
    options.max_steps = 200'000;  // real ones take a hundredth
    const auto text = render({{"messages", {{{"role", "user"}, {"content", content}}}},
                              {"add_generation_prompt", true},
                              {"bos_token", ""},
                              {"eos_token", ""}},
                             options);
    return text && text->find(kProbe) != std::string::npos;
}

std::vector<std::string> ChatTemplate::arguments() const
{
    constexpr std::string_view kGiven[] = {"messages", "tools", "add_generation_prompt", "bos_token", "eos_token"};
    std::vector<std::string> names;
    std::copy_if(variables_.begin(), variables_.end(), std::back_inserter(names), [&](const std::string& name) {
        return std::find(std::begin(kGiven), std::end(kGiven), name) == std::end(kGiven);
    });
    return names;
}

}  // namespace engine
