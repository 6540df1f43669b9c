#include "app/server/openai_fields.h"

#include "app/server/call_grammar.h"
#include "app/server/called_tools.h"
#include "app/server/logit_bias.h"
#include "app/server/thinking.h"

#include <algorithm>
#include <set>

namespace server {

namespace {

constexpr std::int64_t kMostTokens = 1 << 30;
constexpr std::size_t kMostStops = 64;
constexpr std::size_t kMostBreakers = 64;  // each is looked for in every token of the vocabulary
constexpr std::int64_t kMostChoices = 16;

template <class Number>
void take(std::optional<double> from, Number& to)
{
    if (from)
        to = Number(*from);
}

template <class Number>
void take(std::optional<std::int64_t> from, Number& to)
{
    if (from)
        to = Number(*from);
}

std::string message_field(std::size_t index, const char* name)
{
    return "messages[" + std::to_string(index) + "]." + name;
}

/// Returns the engine's name of a role; empty: no role that is known.
std::string role_of(const std::string& role)
{
    if (role == "developer")
        return "system";
    for (const char* known : {"system", "user", "assistant", "tool"})
        if (role == known)
            return role;
    return {};
}

void refuse_more_than(std::size_t most, const std::vector<std::string>& texts, Fields& fields, const char* name)
{
    if (texts.size() > most)
        fields.refuse(name, "has more than " + std::to_string(most) + " texts");
}

/// Returns a call's arguments as templates want them: as an object. A text that is none, such as one that was cut off,
/// is put into one.
Json arguments_of(const Json& given, std::int64_t& compares)
{
    if (!given.is_string())
        return given;
    const std::string text = given.get<std::string>();
    if (Json parsed = parse_inner(text, compares); parsed.is_object())
        return parsed;
    return text.empty() ? Json::object() : Json::object({{"text", text}});
}

/// Returns an assistant's calls, for templates. `compares`: see parse_inner().
Json calls_of(Fields& message, std::int64_t& compares)
{
    const Json* calls = message.array("tool_calls");
    Json taken = calls ? *calls : Json::array();
    for (Json& call : taken)
        if (call.is_object() && call.contains("function") && call["function"].is_object() &&
            call["function"].contains("arguments"))
            call["function"]["arguments"] = arguments_of(call["function"]["arguments"], compares);
    return taken;
}

/// Returns a message's fields besides its text, for templates. Templates want the name of the tool that a result is
/// from, while clients send the call's id, or only the result behind the call.
Json more_of_message(const std::string& role, Fields& message, CalledTools& called, std::int64_t& compares)
{
    Json more = Json::object();
    if (role == "assistant") {
        if (Json calls = calls_of(message, compares); !calls.empty()) {
            called.add(calls);
            more["tool_calls"] = std::move(calls);
        }
    } else if (role == "tool") {
        more = called.result_of(message.text("tool_call_id").value_or(""),
                                message.text("name").value_or(message.text("tool_name").value_or("")));
    }
    return more;
}

bool is_type_of_text(const std::string& type)
{
    return type == "text" || type == "input_text" || type == "output_text";
}

/// Returns the words that replace a part of this type in a tool's result; empty: none do.
std::string words_for_part(const std::string& type)
{
    if (type.empty() || is_type_of_text(type))
        return {};
    if (type == "image" || type == "image_url" || type == "input_image")
        return "(an image, which this model cannot see)";
    if (type == "document" || type == "file" || type == "input_file")
        return "(a document, which this model cannot see)";
    return "(something of the type '" + type + "', which this model cannot see)";
}

/// Returns the effort that is asked for: reasoning_effort, or the one within `reasoning`, as OpenRouter's and Ollama's
/// clients say it.
std::optional<std::string> effort_in(Fields& fields)
{
    if (auto effort = fields.text("reasoning_effort"))
        return effort;
    const Json* reasoning = fields.find("reasoning");
    return reasoning && reasoning->is_object() ? Fields(*reasoning).text("effort") : std::nullopt;
}

/// Says whether the model is to think, without saying how much: `reasoning: {enabled}` of OpenRouter's clients,
/// `thinking: {type}` of Z.ai's, Moonshot's and DeepSeek's, enable_thinking of Alibaba's, think of Ollama's.
std::optional<bool> thinks_in(const Fields& fields)
{
    const auto within = [&](const char* name, const char* inner) -> const Json* {
        const Json* object = fields.find(name);
        return object && object->is_object() ? Fields(*object).find(inner) : nullptr;
    };
    if (const Json* enabled = within("reasoning", "enabled"); enabled && enabled->is_boolean())
        return enabled->get<bool>();
    if (const Json* type = within("thinking", "type"); type && (*type == "enabled" || *type == "disabled"))
        return *type == "enabled";
    for (const char* name : {"enable_thinking", "think"})
        if (const Json* said = fields.find(name); said && said->is_boolean())
            return said->get<bool>();
    return std::nullopt;
}

/// Returns the name in {"type": "function", "function": {"name"}}, or in the Responses API's {"type": "function",
/// "name"}.
std::optional<std::string> function_named(const Json& choice)
{
    Fields inner(choice);
    if (inner.text("type").value_or("") != "function")
        return std::nullopt;
    const Json* function = inner.object("function");
    return function ? Fields(*function).text("name") : inner.text("name");
}

/// Reads {"type": "allowed_tools", ...}, with "mode" and "tools" in the same object or in one beside the type.
void read_allowed_tools(Fields& fields, const Json& choice, Ask& ask)
{
    Fields outer(choice);
    const Json* beside = outer.object("allowed_tools");
    Fields inner(beside ? *beside : choice);
    const std::string mode = inner.text("mode").value_or("auto");
    const Json* tools = inner.array("tools");
    if ((mode != "auto" && mode != "required") || !tools || tools->empty()) {
        fields.refuse("tool_choice", "must say which tools are allowed, and the mode auto or required");
        return;
    }
    ask.must_call = mode == "required";
    for (const Json& tool : *tools)
        if (auto name = function_named(tool))
            ask.callable.push_back(std::move(*name));
        else
            fields.refuse("tool_choice", "may only allow functions, each with its name");
}

/// Reads which tools may or must be called; "none" leaves out all tools.
void read_tool_choice(Fields& fields, const Json& choice, Ask& ask)
{
    const std::string word = choice.is_string() ? choice.get<std::string>() : "";
    const std::string type = choice.is_object() ? Fields(choice).text("type").value_or("") : "";
    ask.must_call = word == "required" || word == "any" || type == "function";
    if (type == "allowed_tools")
        return read_allowed_tools(fields, choice, ask);
    ask.one_call = type == "function";
    if (auto name = function_named(choice))
        ask.callable = {std::move(*name)};
    else if (type == "function")
        fields.refuse("tool_choice", "must have the name of a function");
    else if (!type.empty())
        fields.refuse("tool_choice",
                      "has the type '" + type + "', which is not supported here: only functions are called",
                      Refusal::Kind::NotSupported);
    else if (!ask.must_call && word != "auto" && word != "none")
        fields.refuse("tool_choice", "must be auto, none, required, or a function with its name");
}

}  // namespace

void read_sampling(Fields& fields, engine::SamplingOptions& s)
{
    take(fields.number("temperature", 0, 100), s.temperature);
    take(fields.number("top_p", 0, 1), s.top_p);
    take(fields.integer("top_k", -1, kMostTokens), s.top_k);
    s.top_k = std::max(s.top_k, 0);  // other servers take -1 for off, too
    take(fields.number("min_p", 0, 1), s.min_p);
    take(fields.number("typical_p", 0, 1), s.typical_p);
    take(fields.number("presence_penalty", -2, 2), s.presence_penalty);
    take(fields.number("frequency_penalty", -2, 2), s.frequency_penalty);
    take(fields.number("repeat_penalty", 0, 100), s.repeat_penalty);
    if (s.repeat_penalty == 0)  // LiteLLM and Open WebUI send a frequency penalty, where 0 means none, under this name
        s.repeat_penalty = 1;
    take(fields.integer("repeat_last_n", -1, kMostTokens), s.repeat_last_n);
    take(fields.number("dry_multiplier", 0, 100), s.dry_multiplier);
    take(fields.number("dry_base", 1, 100), s.dry_base);
    take(fields.integer("dry_allowed_length", 0, kMostTokens), s.dry_allowed_length);
    take(fields.integer("dry_penalty_last_n", -1, kMostTokens), s.dry_penalty_last_n);
    if (fields.find("dry_sequence_breakers")) {
        s.dry_sequence_breakers = fields.texts("dry_sequence_breakers");
        refuse_more_than(kMostBreakers, s.dry_sequence_breakers, fields, "dry_sequence_breakers");
    }
    take(fields.number("xtc_probability", 0, 1), s.xtc_probability);
    take(fields.number("xtc_threshold", 0, 1), s.xtc_threshold);
    read_logit_bias(fields, s);
    const auto seed =
        fields.integer("seed", std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
    if (seed && *seed == -1)  // other servers take -1 for a random one
        s.seed.reset();
    else if (seed)
        s.seed = std::uint64_t(*seed);
}

std::vector<std::string> read_stops(Fields& fields, const char* name)
{
    std::vector<std::string> stops = fields.texts(name);
    std::erase(stops, "");
    refuse_more_than(kMostStops, stops, fields, name);
    return stops;
}

void read_answer_limits(Fields& fields, Ask& ask)
{
    for (const char* name : {"n_predict", "max_tokens", "max_completion_tokens"})
        take(fields.integer(name, -1, kMostTokens), ask.turn.max_tokens);
    ask.turn.ignore_end = fields.flag("ignore_eos").value_or(false);
    ask.turn.stop = read_stops(fields, "stop");
    ask.streams = fields.flag("stream").value_or(false);
    ask.reports_progress = fields.flag("return_progress").value_or(false) && ask.streams;
    ask.model = fields.text("model").value_or("");
}

void read_choices(Fields& fields, Ask& ask)
{
    for (const char* name : {"n_cmpl", "n"})
        take(fields.integer(name, 1, kMostChoices), ask.choices);
}

void add(const Ended& ended, Ended& sum)
{
    sum.answer_tokens += ended.answer_tokens;
    sum.thought_tokens += ended.thought_tokens;
    sum.drafted_tokens += ended.drafted_tokens;
    sum.accepted_tokens += ended.accepted_tokens;
    sum.prompt_tokens = ended.prompt_tokens;
    sum.cached_tokens = std::max(sum.cached_tokens, ended.cached_tokens);
}

void read_template_arguments(Fields& fields, engine::Request& turn)
{
    Json arguments = Json::object();
    if (const Json* given = fields.object("chat_template_kwargs"))
        arguments = *given;
    name_thinking_otherwise(arguments);
    const auto effort = effort_in(fields);
    const auto thinks = thinks_in(fields);
    if (effort == "none" || thinks == false) {
        add_thinking(arguments, Thinking::Off);
    } else if (effort || thinks) {
        add_thinking(arguments, Thinking::On);
        if (effort)
            arguments.emplace("reasoning_effort", *effort);
    }
    if (!arguments.empty())
        turn.template_arguments_json = text_of(arguments);
}

std::string text_of_content(Fields& fields, const Json& content, const std::string& field)
{
    if (content.is_null())
        return {};
    if (content.is_string())
        return content.get<std::string>();
    if (!content.is_array()) {
        fields.refuse(field.c_str(), "must be a string or an array of parts");
        return {};
    }
    std::string all;
    for (const Json& part : content) {
        Fields inner(part);
        const std::string type = inner.text("type").value_or("");
        const bool is_text = is_type_of_text(type);
        const auto text = is_text ? inner.text("text") : std::nullopt;
        if (!text) {
            fields.refuse(field.c_str(),
                          is_text || type.empty() ? "has a part without text"
                                                  : "has a part of the type '" + type + "', and only text is read here",
                          is_text || type.empty() ? Refusal::Kind::BadRequest : Refusal::Kind::NotSupported);
            return {};
        }
        all += (all.empty() ? "" : "\n") + *text;
    }
    return all;
}

std::string text_of_result(Fields& fields, const Json& content, const std::string& field)
{
    if (!content.is_array())
        return text_of_content(fields, content, field);
    Json parts = Json::array();
    for (const Json& part : content)
        if (const std::string words = words_for_part(Fields(part).text("type").value_or("")); !words.empty())
            parts.push_back({{"type", "text"}, {"text", words}});
        else
            parts.push_back(part);
    return text_of_content(fields, parts, field);
}

void read_messages(Fields& fields, engine::Request& turn)
{
    const Json* messages = fields.array("messages");
    if (!messages || messages->empty()) {
        fields.refuse("messages", "must be an array with a message at least");
        return;
    }
    CalledTools called;
    std::int64_t compares = kMostNameCompares;  // for the arguments of all calls together
    for (std::size_t i = 0; i < messages->size(); ++i) {
        const Json& given = (*messages)[i];
        if (!given.is_object()) {
            fields.refuse(("messages[" + std::to_string(i) + "]").c_str(), "must be an object");
            return;
        }
        Fields message(given);
        const std::string role = role_of(message.text("role").value_or(""));
        if (role.empty()) {
            fields.refuse(message_field(i, "role").c_str(), "must be system, developer, user, assistant or tool");
            return;
        }
        const Json* content = message.find("content");
        const auto text_in = role == "tool" ? text_of_result : text_of_content;
        engine::Message taken{role, text_in(fields, content ? *content : Json(), message_field(i, "content")), {}};
        if (!content && role != "assistant") {
            fields.refuse(message_field(i, "content").c_str(), "is missing");
            return;
        }
        if (role == "assistant")
            for (const char* name : {"reasoning_content", "reasoning", "thinking"})  // the last one is Ollama's
                if (const Json* thought = message.find(name); thought && thought->is_string())
                    taken.reasoning = thought->get<std::string>();
        const Json more = more_of_message(role, message, called, compares);
        if (!more.empty())
            taken.more_json = text_of(more);
        const bool leads = std::ranges::all_of(turn.messages, [](const auto& m) { return m.role == "system"; });
        if (role == "system" && leads && !turn.messages.empty())
            turn.messages.back().text += "\n\n" + taken.text;
        else
            turn.messages.push_back(std::move(taken));
    }
    // vLLM's field. Without it, a last message that is an answer is continued.
    const auto goes_on = fields.flag("continue_final_message");
    const bool answered = turn.messages.back().role == "assistant";
    if (goes_on.value_or(false) && fields.flag("add_generation_prompt").value_or(false))
        fields.refuse("continue_final_message", "cannot be true together with 'add_generation_prompt'");
    if (goes_on.value_or(false) && !answered)
        fields.refuse("continue_final_message", "asks to go on with the last message, which is not the assistant's");
    turn.continue_last = goes_on.value_or(true) && answered;
}

void read_tools(Fields& fields, Ask& ask)
{
    Json functions = Json::array();
    if (const Json* tools = fields.array("tools"))
        for (const Json& tool : *tools) {
            Fields inner(tool);
            const Json* function = inner.object("function");
            if (inner.text("type").value_or("function") != "function")
                continue;
            if (!function || !Fields(*function).text("name"))
                fields.refuse("tools", "has a function without a name");
            else
                functions.push_back(tool);
        }
    if (const Json* choice = fields.find("tool_choice"))
        read_tool_choice(fields, *choice, ask);
    ask.one_call = ask.one_call || !fields.flag("parallel_tool_calls").value_or(true);
    if (fields.find("tool_choice") && *fields.find("tool_choice") == "none")
        functions.clear();
    offer_tools(fields, functions, ask);
}

void offer_tools(Fields& fields, const Json& functions, Ask& ask)
{
    for (const Json& tool : functions)
        if (const Json& function = tool["function"]; function.value("strict", Json()) == true)
            if (const auto ok = check_parameters(function); !ok)
                fields.refuse("tools", "has the strict function '" + function["name"].get<std::string>() +
                                           "', whose parameters cannot be followed: " + ok.error().what);
    std::set<std::string> offered;
    for (const Json& tool : functions)
        offered.insert(tool["function"]["name"].get<std::string>());
    for (const std::string& name : ask.callable)
        if (!offered.contains(name))
            fields.refuse("tool_choice", "names the function '" + name + "', which is none of the tools");
    if (ask.must_call && functions.empty())
        fields.refuse("tool_choice", "asks for a call, and there is no function among the tools");
    if (!functions.empty())
        ask.turn.tools_json = text_of(functions);
}

void refuse_unsupported(Fields& fields)
{
    fields.not_supported("best_of", 1);
    fields.not_supported("audio", Json::object());
    fields.not_supported("functions", Json::array());
    fields.not_supported("function_call", "none");
    fields.not_supported("mirostat", 0);
    if (const Json* modalities = fields.find("modalities"); modalities && *modalities != Json::array({"text"}))
        fields.refuse("modalities", "is not supported here but for text", Refusal::Kind::NotSupported);
}

std::string openai_error(const Refusal& refusal)
{
    const char* type = "invalid_request_error";
    Json code;
    switch (refusal.kind) {
    case Refusal::Kind::NoKey:
        type = "authentication_error";
        code = "invalid_api_key";
        break;
    case Refusal::Kind::Forbidden:
        type = "permission_error";
        break;
    case Refusal::Kind::NotFound:
        type = "not_found_error";
        break;
    case Refusal::Kind::NotSupported:
        code = "unsupported_parameter";
        break;
    case Refusal::Kind::PromptTooLong:
        type = "exceed_context_size_error";  // llama-server's clients look for this type, OpenAI's at the code
        code = "context_length_exceeded";
        break;
    case Refusal::Kind::Busy:
        type = "unavailable_error";
        break;
    case Refusal::Kind::Failed:
        type = "server_error";
        break;
    case Refusal::Kind::BadRequest:
    case Refusal::Kind::WrongMethod:
    case Refusal::Kind::TooLarge:
        break;
    }
    Json error = {{"message", refusal.sentence}, {"type", type}, {"param", nullptr}, {"code", code}};
    if (!refusal.field.empty())
        error["param"] = refusal.field;
    if (refusal.kind == Refusal::Kind::PromptTooLong) {
        error["n_prompt_tokens"] = refusal.prompt_tokens;
        error["n_ctx"] = refusal.context_tokens;
    }
    return text_of({{"error", error}});
}

Json openai_usage(const Ended& ended)
{
    Json usage = {{"prompt_tokens", ended.prompt_tokens},
                  {"completion_tokens", ended.answer_tokens},
                  {"total_tokens", ended.prompt_tokens + ended.answer_tokens},
                  {"prompt_tokens_details", {{"cached_tokens", ended.cached_tokens}}}};
    if (ended.thought_tokens > 0)
        usage["completion_tokens_details"] = {{"reasoning_tokens", ended.thought_tokens}};
    return usage;
}

const char* openai_finish_reason(const Ended& ended)
{
    switch (ended.reason) {
    case engine::StopReason::MaxTokens:
    case engine::StopReason::ContextFull:
        return "length";
    case engine::StopReason::EndOfTurn:
    case engine::StopReason::StopString:
    case engine::StopReason::Cancelled:
        break;
    }
    return ended.calls > 0 ? "tool_calls" : "stop";
}

}  // namespace server
