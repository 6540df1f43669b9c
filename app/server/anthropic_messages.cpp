#include "app/server/anthropic_messages.h"

#include "app/server/answer_format.h"
#include "app/server/called_tools.h"
#include "app/server/openai_fields.h"
#include "app/server/template_fit.h"
#include "app/server/thinking.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace server {

namespace {

/// Returns the sentence of a refusal. For a prompt that is too long it is Anthropic's own, which clients look for and
/// read both numbers from.
std::string anthropic_sentence(const Refusal& refusal)
{
    if (refusal.kind != Refusal::Kind::PromptTooLong || refusal.prompt_tokens <= refusal.context_tokens)
        return refusal.sentence;
    return "prompt is too long: " + std::to_string(refusal.prompt_tokens) + " tokens > " +
           std::to_string(refusal.context_tokens) + " maximum";
}

Json anthropic_error(const Refusal& refusal)
{
    const char* type = "invalid_request_error";
    switch (refusal.kind) {
    case Refusal::Kind::NoKey:
        type = "authentication_error";
        break;
    case Refusal::Kind::Forbidden:
        type = "permission_error";
        break;
    case Refusal::Kind::NotFound:
        type = "not_found_error";
        break;
    case Refusal::Kind::TooLarge:
        type = "request_too_large";
        break;
    case Refusal::Kind::Busy:
        type = "overloaded_error";
        break;
    case Refusal::Kind::Failed:
        type = "api_error";
        break;
    case Refusal::Kind::BadRequest:
    case Refusal::Kind::WrongMethod:
    case Refusal::Kind::NotSupported:
    case Refusal::Kind::PromptTooLong:
        break;
    }
    return {{"type", "error"}, {"error", {{"type", type}, {"message", anthropic_sentence(refusal)}}}};
}

const char* stop_reason(const Ended& ended)
{
    switch (ended.reason) {
    case engine::StopReason::MaxTokens:
        return "max_tokens";
    case engine::StopReason::StopString:
        return "stop_sequence";
    case engine::StopReason::ContextFull:
        return "model_context_window_exceeded";
    case engine::StopReason::EndOfTurn:
    case engine::StopReason::Cancelled:
        break;
    }
    return ended.calls > 0 ? "tool_use" : "end_turn";
}

Json usage_of(const Ended& ended)
{
    return {{"input_tokens", ended.prompt_tokens - ended.cached_tokens},
            {"cache_creation_input_tokens", 0},
            {"cache_read_input_tokens", ended.cached_tokens},
            {"output_tokens", ended.answer_tokens}};
}

class MessageWording final : public Wording
{
public:
    explicit MessageWording(std::string model)
        : model_(std::move(model))
    {
    }

    std::string piece(const TurnEvent& event) override
    {
        if (const auto* started = std::get_if<Started>(&event))
            return start(started->prompt_tokens);
        std::string said;  // one after the other, since the first changes the number of the block
        if (const auto* text = std::get_if<TextPiece>(&event)) {
            said = in_block("text", {{"type", "text"}, {"text", ""}});
            return said += delta({{"type", "text_delta"}, {"text", text->text}});
        }
        if (const auto* thought = std::get_if<ThoughtPiece>(&event)) {
            said = in_block("thinking", {{"type", "thinking"}, {"thinking", ""}, {"signature", ""}});
            return said += delta({{"type", "thinking_delta"}, {"thinking", thought->text}});
        }
        if (const auto* call = std::get_if<CallBegun>(&event)) {
            said = close_block();
            return said +=
                   in_block("tool_use",
                            {{"type", "tool_use"}, {"id", call->id}, {"name", call->name}, {"input", Json::object()}});
        }
        if (const auto* more = std::get_if<CallArguments>(&event))
            return delta({{"type", "input_json_delta"}, {"partial_json", more->text}});
        if (const auto* failed = std::get_if<Failed>(&event))
            return event_of(anthropic_error(failed->refusal), "error");
        return end(std::get<Ended>(event));
    }

    std::string ping() const override { return event_of({{"type", "ping"}}, "ping"); }

    std::string whole(const Answer& written) override
    {
        const Answer answer = with_readable_calls(written);
        Json message = this->message();
        if (!answer.thought.empty())
            message["content"].push_back({{"type", "thinking"}, {"thinking", answer.thought}, {"signature", ""}});
        if (!answer.text.empty())
            message["content"].push_back({{"type", "text"}, {"text", answer.text}});
        for (const Call& call : answer.calls)
            message["content"].push_back(
                {{"type", "tool_use"}, {"id", call.id}, {"name", call.name}, {"input", parse_inner(call.arguments)}});
        message["stop_reason"] = stop_reason(answer.ended);
        message["stop_sequence"] = stop_sequence(answer.ended);
        message["usage"] = usage_of(answer.ended);
        return text_of(message);
    }

private:
    Json message() const
    {
        return {{"id", id_},
                {"type", "message"},
                {"role", "assistant"},
                {"model", model_},
                {"content", Json::array()},
                {"stop_reason", nullptr},
                {"stop_sequence", nullptr}};
    }

    std::string start(int prompt_tokens) const
    {
        Json message = this->message();
        message["usage"] = {{"input_tokens", prompt_tokens}, {"output_tokens", 0}};
        return event_of({{"type", "message_start"}, {"message", std::move(message)}}, "message_start");
    }

    /// Opens a block of this kind, unless one is open.
    std::string in_block(const char* kind, Json block)
    {
        if (open_ == kind)
            return {};
        std::string text = close_block();
        open_ = kind;
        return text +
               event_of({{"type", "content_block_start"}, {"index", index_}, {"content_block", std::move(block)}},
                        "content_block_start");
    }

    std::string delta(Json delta) const
    {
        return event_of({{"type", "content_block_delta"}, {"index", index_}, {"delta", std::move(delta)}},
                        "content_block_delta");
    }

    std::string close_block()
    {
        if (open_.empty())
            return {};
        std::string text;
        if (open_ == "thinking")  // clients wait for a signature; this one is empty
            text = delta({{"type", "signature_delta"}, {"signature", ""}});
        open_.clear();
        return text + event_of({{"type", "content_block_stop"}, {"index", index_++}}, "content_block_stop");
    }

    std::string end(const Ended& ended)
    {
        const Json delta = {{"stop_reason", stop_reason(ended)}, {"stop_sequence", stop_sequence(ended)}};
        return close_block() +
               event_of({{"type", "message_delta"}, {"delta", delta}, {"usage", usage_of(ended)}}, "message_delta") +
               event_of({{"type", "message_stop"}}, "message_stop");
    }

    static Json stop_sequence(const Ended& ended)
    {
        return ended.reason == engine::StopReason::StopString ? Json(ended.stop_string) : Json();
    }

    const std::string id_ = new_id("msg_");
    const std::string model_;
    std::string open_;  // kind of the block that is open
    int index_ = 0;
};

/// Holds a turn: an assistant's thoughts and calls, results of calls, and text, which all are parts of a message's
/// content in this API. Several messages of one role in a row are one turn.
struct AnthropicTurn {
    std::string role;  // empty: no turn has begun
    std::string thoughts = {};
    Json calls = Json::array();
    std::vector<engine::Message> results = {};
    std::string text = {};
    bool has_text = false;
};

/// Returns a part of type text with its title for a document that is given as text; other parts are returned as they
/// are.
Json with_text_of_document(Json part)
{
    Fields inner(part);
    const Json* source = inner.text("type").value_or("") == "document" ? inner.object("source") : nullptr;
    if (!source)
        return part;
    Fields given(*source);
    const auto text = given.text("type").value_or("") == "text" ? given.text("data") : std::nullopt;
    if (!text)
        return part;
    const std::string title = inner.text("title").value_or("");
    return {{"type", "text"}, {"text", title + (title.empty() ? "" : "\n") + *text}};
}

engine::Message result_in(Fields& fields, Fields& part, const std::string& field, CalledTools& called)
{
    const Json* given = part.find("content");
    Json content = given ? *given : Json();
    if (content.is_array())
        for (Json& one : content)
            one = with_text_of_document(std::move(one));
    std::string text = text_of_result(fields, content, field);
    if (part.flag("is_error").value_or(false))  // templates have no field for an error
        text = "(the tool failed)" + (text.empty() ? "" : "\n" + text);
    return {"tool", std::move(text), {}, text_of(called.result_of(part.text("tool_use_id").value_or(""), {}))};
}

void add_content(Fields& fields, const Json& content, const std::string& field, CalledTools& called,
                 AnthropicTurn& turn)
{
    static const Json kNone = Json::array();
    Json calls = kNone, rest = content.is_array() ? kNone : content;
    for (const Json& part : content.is_array() ? content : kNone) {
        Fields inner(part);
        const std::string type = inner.text("type").value_or("");
        if (type == "thinking") {
            turn.thoughts += inner.text("thinking").value_or("");
        } else if (type == "tool_use") {
            const Json* input = inner.object("input");
            const Json function = {{"name", inner.text("name").value_or("")},
                                   {"arguments", input ? *input : Json::object()}};
            calls.push_back({{"id", inner.text("id").value_or("")}, {"type", "function"}, {"function", function}});
        } else if (type == "tool_result") {
            turn.results.push_back(result_in(fields, inner, field, called));
        } else if (type != "redacted_thinking") {
            rest.push_back(with_text_of_document(part));
        }
    }
    if (!calls.empty())
        called.add(calls);
    turn.calls.insert(turn.calls.end(), calls.begin(), calls.end());
    turn.has_text = turn.has_text || !rest.empty() || turn.results.empty();
    // A client may send what a tool has read beside the result, as Claude Code does with a PDF: such parts are read
    // like a result's.
    const auto text_in = turn.results.empty() ? text_of_content : text_of_result;
    const std::string text = text_in(fields, rest, field);
    turn.text += (turn.text.empty() || text.empty() ? "" : "\n\n") + text;
}

void put_turn(AnthropicTurn turn, std::vector<engine::Message>& messages)
{
    std::ranges::move(turn.results, std::back_inserter(messages));
    if (turn.role.empty() || !turn.has_text)
        return;
    engine::Message taken{turn.role, std::move(turn.text), std::move(turn.thoughts)};
    if (!turn.calls.empty())
        taken.more_json = text_of(Json::object({{"tool_calls", std::move(turn.calls)}}));
    messages.push_back(std::move(taken));
}

/// Returns a system text without Claude Code's first line for Anthropic's billing, which may change with each request:
/// no prompt would begin like the one before it, and no KV could be reused.
std::string without_billing(std::string text)
{
    if (!text.starts_with("x-anthropic-billing-header:"))
        return text;
    const std::size_t line_end = text.find('\n');
    const std::size_t rest = line_end == std::string::npos ? line_end : text.find_first_not_of('\n', line_end);
    return rest == std::string::npos ? std::string() : text.substr(rest);
}

std::string system_text(Fields& fields, Json system)
{
    if (system.is_string())
        return without_billing(system.get<std::string>());
    for (Json& part : system)
        if (const auto text = Fields(part).text("text"))
            part["text"] = without_billing(*text);
    return text_of_content(fields, system, "system");
}

/// Reads whether to think, and how much. An effort alone asks for no thinking in this API. Without thinking the model
/// gets no effort, and no thoughts are sent, since some models think nevertheless.
void read_thinking(Fields& fields, Ask& ask)
{
    Json arguments = Json::object();
    const Json* config = fields.object("output_config");
    const Json* thinking = fields.object("thinking");
    const std::string type = thinking ? Fields(*thinking).text("type").value_or("") : std::string();
    ask.shows_thoughts = type != "disabled";
    if (const auto effort = config ? Fields(*config).text("effort") : std::nullopt; effort && ask.shows_thoughts)
        arguments["reasoning_effort"] = *effort;
    if (type == "disabled" || type == "enabled" || type == "adaptive")
        add_thinking(arguments, type == "disabled"  ? Thinking::Off
                                : type == "enabled" ? Thinking::On
                                                    : Thinking::WhenNeeded);
    if (!arguments.empty())
        ask.turn.template_arguments_json = text_of(arguments);
}

/// Turns tools into OpenAI's form, which is what templates read. Tools that Anthropic runs itself are left out.
void read_anthropic_tools(Fields& fields, Ask& ask)
{
    Json functions = Json::array();
    if (const Json* tools = fields.array("tools"))
        for (const Json& tool : *tools) {
            Fields inner(tool);
            const auto name = inner.text("name");
            const Json* schema = inner.object("input_schema");
            if (!name || !schema)
                continue;
            Json function = {
                {"name", *name}, {"description", inner.text("description").value_or("")}, {"parameters", *schema}};
            if (inner.flag("strict").value_or(false))
                function["strict"] = true;
            functions.push_back({{"type", "function"}, {"function", std::move(function)}});
        }
    if (const Json* choice = fields.object("tool_choice")) {
        Fields inner(*choice);
        const std::string type = inner.text("type").value_or("");
        ask.must_call = type == "any" || type == "tool";
        ask.one_call = type == "tool" || inner.flag("disable_parallel_tool_use").value_or(false);
        if (type == "none")
            functions.clear();
        else if (type == "tool")
            ask.callable = {inner.text("name").value_or("")};
        else if (type != "any" && type != "auto")
            fields.refuse("tool_choice", "must have the type auto, any, tool or none");
    }
    offer_tools(fields, functions, ask);
}

void read_anthropic_messages(Fields& fields, engine::Request& turn)
{
    if (const Json* system = fields.find("system"))
        if (std::string text = system_text(fields, *system); !text.empty())
            turn.messages.push_back({"system", std::move(text), {}});
    const Json* messages = fields.array("messages");
    if (!messages || messages->empty()) {
        fields.refuse("messages", "must be an array with a message at least");
        return;
    }
    const std::size_t first = turn.messages.size();
    CalledTools called;
    AnthropicTurn read;
    for (std::size_t i = 0; i < messages->size(); ++i) {
        const std::string name = "messages[" + std::to_string(i) + "]";
        Fields message((*messages)[i]);
        const std::string role = message.text("role").value_or("");
        const Json* content = message.find("content");
        if ((role != "user" && role != "assistant" && role != "system") || !content) {
            fields.refuse(name.c_str(), "must have the role user, assistant or system, and a content");
            return;
        }
        if (role != read.role)
            put_turn(std::exchange(read, AnthropicTurn{role}), turn.messages);
        add_content(fields, *content, name + ".content", called, read);
    }
    put_turn(std::move(read), turn.messages);
    // Claude Code sends system messages between others. They become the user's with every template, since a changed
    // system message would change the beginning of the prompt.
    give_to_user(turn.messages, first);
    if (turn.messages.empty())  // there were only empty system messages
        fields.refuse("messages", "must have a message that says something");
    turn.continue_last = !turn.messages.empty() && turn.messages.back().role == "assistant";
}

}  // namespace

tl::expected<Asked, Refusal> AnthropicMessages::read(const Json& body, const Served& served) const
{
    Fields fields(body);
    Ask ask = unsaid_ask(served);
    ask.model = fields.text("model").value_or("");
    ask.streams = fields.flag("stream").value_or(false);
    if (const auto most = fields.integer("max_tokens", 1, kMostAnswerTokens))
        ask.turn.max_tokens = int(*most);
    ask.turn.stop = read_stops(fields, "stop_sequences");
    read_sampling(fields, ask.turn.sampling);
    read_anthropic_tools(fields, ask);
    read_output_format(fields, ask.turn);
    fields.not_supported("mcp_servers", Json::array());
    read_thinking(fields, ask);
    read_anthropic_messages(fields, ask.turn);
    if (fields.refusal())
        return tl::unexpected(*fields.refusal());
    auto wording = std::make_unique<MessageWording>(served.name);
    return Asked{std::move(ask), std::move(wording)};
}

std::string AnthropicMessages::error(const Refusal& refusal) const
{
    return text_of(anthropic_error(refusal));
}

}  // namespace server
