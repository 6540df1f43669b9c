#include "app/server/openai_responses.h"

#include "app/server/answer_format.h"
#include "app/server/openai_fields.h"
#include "app/server/responses_wording.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace server {

namespace {

constexpr const char* kWhatIsKept = "they are kept in memory only, the newest ones, and not where store is false";

/// Turns the items of an input into messages of chat completions. An assistant's thought, text and calls, which are
/// separate items here, become one message.
class InputReader
{
public:
    /// `kept`: responses that an item may refer to.
    InputReader(Fields& fields, const KeptResponses& kept, Json& messages)
        : fields_(fields)
        , kept_(kept)
        , messages_(messages)
    {
    }

    void read(const Json& input)
    {
        if (input.is_string()) {
            messages_.push_back({{"role", "user"}, {"content", input}});
            return;
        }
        if (!input.is_array()) {
            fields_.refuse("input", "must be a string or an array of items");
            return;
        }
        for (std::size_t i = 0; i < input.size() && !fields_.refusal(); ++i)
            read_item("input[" + std::to_string(i) + "]", input[i]);
    }

private:
    void read_item(const std::string& at, const Json& item)
    {
        if (!item.is_object()) {
            fields_.refuse(at.c_str(), "must be an object");
            return;
        }
        Fields inner(item);
        const std::string type = inner.text("type").value_or("message");
        if (type == "message")
            read_message(at, inner);
        else if (type == "reasoning")
            read_reasoning(at, inner);
        else if (type == "function_call")
            read_call(at, inner);
        else if (type == "function_call_output")
            read_result(at, inner);
        else if (type == "item_reference")
            read_reference(at, inner);
        else
            fields_.refuse((at + ".type").c_str(), "is '" + type + "', which is not supported here",
                           Refusal::Kind::NotSupported);
    }

    void read_message(const std::string& at, Fields& item)
    {
        const std::string role = item.text("role").value_or("");
        const Json* content = item.find("content");
        if (role != "user" && role != "assistant" && role != "system" && role != "developer")
            fields_.refuse((at + ".role").c_str(), "must be user, assistant, system or developer");
        else if (!content)
            fields_.refuse((at + ".content").c_str(), "is missing");
        if (fields_.refusal())
            return;
        const std::string text = text_of_content(fields_, *content, at + ".content");
        if (role == "assistant" && is_open_ && is_empty_text(messages_.back()["content"]) &&
            !messages_.back().contains("tool_calls"))
            messages_.back()["content"] = text;
        else
            messages_.push_back({{"role", role}, {"content", text}});
        is_open_ = role == "assistant";
    }

    void read_reasoning(const std::string& at, Fields& item)
    {
        std::string text;
        const Json* content = item.array("content");
        for (const Json& part : content ? *content : Json::array())
            if (part.is_object() && part.contains("text") && part["text"].is_string())
                text += part["text"].get<std::string>();
        if (item.refusal())
            fields_.refuse((at + ".content").c_str(), "must be an array");
        if (const auto sent = item.text("encrypted_content"); text.empty() && sent && sent->starts_with(kOwnThought))
            text = sent->substr(kOwnThought.size());
        if (text.empty())
            return;  // a summary, or a text that only another server can decrypt
        messages_.push_back({{"role", "assistant"}, {"content", ""}, {"reasoning_content", text}});
        is_open_ = true;
    }

    void read_call(const std::string& at, Fields& item)
    {
        const auto id = item.text("call_id"), name = item.text("name"), arguments = item.text("arguments");
        if (!id || !name || !arguments) {
            fields_.refuse(at.c_str(), "must have call_id, name and arguments");
            return;
        }
        if (!is_open_)
            messages_.push_back({{"role", "assistant"}, {"content", ""}});
        is_open_ = true;
        const std::string called = whole_name(item.text("namespace").value_or(""), *name);
        messages_.back()["tool_calls"].push_back(
            {{"id", *id}, {"type", "function"}, {"function", {{"name", called}, {"arguments", *arguments}}}});
    }

    /// Reads a reference to an item of an earlier answer as if that item stood here.
    void read_reference(const std::string& at, Fields& item)
    {
        const auto kept = kept_.find_item(item.text("id").value_or(""));
        if (kept)
            read_item(at, *kept);
        else
            fields_.refuse((at + ".id").c_str(), std::string("is of no item that is kept here: ") + kWhatIsKept);
    }

    void read_result(const std::string& at, Fields& item)
    {
        const auto id = item.text("call_id");
        const Json* output = item.find("output");
        if (!id || !output) {
            fields_.refuse(at.c_str(), "must have call_id and output");
            return;
        }
        messages_.push_back(
            {{"role", "tool"}, {"tool_call_id", *id}, {"content", text_of_result(fields_, *output, at + ".output")}});
        is_open_ = false;
    }

    Fields& fields_;
    const KeptResponses& kept_;
    Json& messages_;
    bool is_open_ = false;  // the last message is an assistant's, and gets its next items
};

/// Returns the function of a tool in the form of chat completions.
Json function_of(const Json& tool, const std::string& space)
{
    Fields inner(tool);
    Json function = Json::object();
    for (const char* name : {"name", "description", "parameters"})
        if (const Json* value = inner.find(name))
            function[name] = *value;
    if (const auto name = inner.text("name"))
        function["name"] = whole_name(space, *name);
    if (inner.flag("strict").value_or(false))
        function["strict"] = true;
    return {{"type", "function"}, {"function", std::move(function)}};
}

/// Returns the functions, also those in namespaces, in which Codex sends the tools of an MCP server. These get whole
/// names, which `in_spaces` splits again. Tools that OpenAI runs itself are left out.
Json functions_of(Fields& fields, std::map<std::string, FunctionInSpace>& in_spaces)
{
    Json functions = Json::array();
    const Json* tools = fields.array("tools");
    for (const Json& tool : tools ? *tools : Json::array()) {
        Fields outer(tool);
        const std::string type = outer.text("type").value_or("");
        if (type == "function")
            functions.push_back(function_of(tool, ""));
        const Json* inside = type == "namespace" ? outer.array("tools") : nullptr;
        const std::string space = outer.text("name").value_or("");
        for (const Json& one : inside ? *inside : Json::array()) {
            Fields inner(one);
            if (inner.text("type").value_or("") != "function")
                continue;
            functions.push_back(function_of(one, space));
            if (const auto name = inner.text("name"); name && !space.empty())
                in_spaces[whole_name(space, *name)] = {space, *name};
        }
    }
    return functions;
}

/// Returns a tool_choice with whole names of functions.
Json with_whole_names(Json choice)
{
    if (!choice.is_object())
        return choice;
    Fields inner(choice);
    if (const auto space = inner.text("namespace"), name = inner.text("name"); space && name)
        choice["name"] = whole_name(*space, *name);
    if (const auto tools = choice.find("tools"); tools != choice.end() && tools->is_array())
        for (Json& tool : *tools)
            tool = with_whole_names(std::move(tool));
    return choice;
}

KeptResponses& kept_by(const PlainRequest& request)
{
    return static_cast<const OpenAiResponses&>(*request.dialect).kept();
}

/// Returns what the path names: an id, or one with more behind it, such as "/input_items", which is no response's.
std::string response_id(const PlainRequest& request)
{
    constexpr std::string_view kBefore = "/responses/";
    return request.path.substr(request.path.find(kBefore) + kBefore.size());
}

PlainAnswer not_kept(const std::string& id)
{
    return tl::unexpected(
        Refusal{Refusal::Kind::NotFound, "there is no response '" + id.substr(0, 100) + "' here: " + kWhatIsKept});
}

void refuse_what_is_not_there(Fields& fields)
{
    fields.not_supported("background", false);
    fields.not_supported("conversation", nullptr);
    fields.not_supported("prompt", nullptr);
    fields.not_supported("top_logprobs", 0);
}

/// Returns the fields that the response repeats from its request.
Json about(Fields& fields, const Ask& ask, const std::string& model)
{
    const auto given = [&](const char* name, const Json& otherwise) {
        const Json* value = fields.find(name);
        return value ? *value : otherwise;
    };
    return {{"model", model},
            {"instructions", given("instructions", nullptr)},
            {"max_output_tokens", given("max_output_tokens", nullptr)},
            {"metadata", given("metadata", Json::object())},
            {"parallel_tool_calls", given("parallel_tool_calls", true)},
            {"previous_response_id", given("previous_response_id", nullptr)},
            {"reasoning", given("reasoning", {{"effort", nullptr}, {"summary", nullptr}})},
            {"store", given("store", true)},
            {"temperature", ask.turn.sampling.temperature},
            {"text", given("text", {{"format", {{"type", "text"}}}})},
            {"tool_choice", given("tool_choice", "auto")},
            {"tools", given("tools", Json::array())},
            {"top_p", ask.turn.sampling.top_p},
            {"truncation", given("truncation", "disabled")}};
}

}  // namespace

tl::expected<Asked, Refusal> OpenAiResponses::read(const Json& body, const Served& served) const
{
    Fields fields(body);
    Ask ask = unsaid_ask(served);
    ask.model = fields.text("model").value_or("");
    ask.streams = fields.flag("stream").value_or(false);
    if (const auto most = fields.integer("max_output_tokens", 1, kMostAnswerTokens))
        ask.turn.max_tokens = int(*most);
    read_sampling(fields, ask.turn.sampling);
    if (const auto truncation = fields.text("truncation"); truncation && *truncation == "auto")
        ask.turn.full_context = engine::FullContext::DropOldest;
    else if (truncation && *truncation != "disabled")
        fields.refuse("truncation", "must be auto or disabled");
    refuse_what_is_not_there(fields);

    // The other fields are those of chat completions.
    ResponseAsked asked;
    Json chat = {{"tools", functions_of(fields, asked.functions)}};
    for (const char* name :
         {"parallel_tool_calls", "chat_template_kwargs", "reasoning", "thinking", "enable_thinking", "think"})
        if (const Json* value = fields.find(name))
            chat[name] = *value;
    if (const Json* choice = fields.find("tool_choice"))
        chat["tool_choice"] = with_whole_names(*choice);
    if (const Json* reasoning = fields.object("reasoning"))
        if (const Json* effort = Fields(*reasoning).find("effort"))
            chat["reasoning_effort"] = *effort;
    Json messages = Json::array();
    const auto previous = fields.text("previous_response_id");
    if (previous) {
        if (auto before = kept_->find(*previous))
            messages = std::move(*before);
        else
            fields.refuse("previous_response_id", std::string("is of no response that is kept here: ") + kWhatIsKept);
    }
    if (const Json* input = fields.find("input"))
        InputReader(fields, *kept_, messages).read(*input);
    if (messages.empty())
        fields.refuse("input", "must be a string or an array with an item at least");
    // Instructions of an earlier response do not count any more.
    chat["messages"] = Json::array();
    if (const auto instructions = fields.text("instructions"); instructions && !instructions->empty())
        chat["messages"].push_back({{"role", "system"}, {"content", *instructions}});
    chat["messages"].insert(chat["messages"].end(), messages.begin(), messages.end());
    if (fields.flag("store").value_or(true))
        asked.kept = kept_;
    const std::vector<std::string> wanted = fields.texts("include");
    // A client that has nothing kept sends everything again, thoughts included. Codex does so, but asks for the
    // thoughts only with models that it knows.
    asked.returns_thoughts = !asked.kept || std::ranges::find(wanted, "reasoning.encrypted_content") != wanted.end();
    if (fields.refusal())
        return tl::unexpected(*fields.refusal());

    Fields chat_fields(chat);
    read_template_arguments(chat_fields, ask.turn);
    read_tools(chat_fields, ask);
    read_messages(chat_fields, ask.turn);
    read_text_format(fields, ask.turn);
    ask.turn.continue_last = false;
    for (const auto& refusal : {chat_fields.refusal(), fields.refusal()})
        if (refusal)
            return tl::unexpected(*refusal);
    asked.about = about(fields, ask, served.name);
    asked.messages = std::move(messages);
    return Asked{std::move(ask), std::make_unique<ResponsesWording>(std::move(asked))};
}

std::string OpenAiResponses::error(const Refusal& refusal) const
{
    return openai_error(refusal);
}

PlainAnswer kept_response(const PlainRequest& request)
{
    const std::string id = response_id(request);
    if (auto response = kept_by(request).find_response(id))
        return std::move(*response);
    return not_kept(id);
}

PlainAnswer forget_response(const PlainRequest& request)
{
    const std::string id = response_id(request);
    if (!kept_by(request).forget(id))
        return not_kept(id);
    return text_of({{"id", id}, {"object", "response"}, {"deleted", true}});
}

}  // namespace server
