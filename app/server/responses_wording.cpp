#include "app/server/responses_wording.h"

#include <utility>

namespace server {

namespace {

/// Returns why an answer is not complete; null: it is complete.
Json incomplete_details(const Ended& ended)
{
    switch (ended.reason) {
    case engine::StopReason::MaxTokens:
    case engine::StopReason::ContextFull:
        return {{"reason", "max_output_tokens"}};
    case engine::StopReason::EndOfTurn:
    case engine::StopReason::StopString:
    case engine::StopReason::Cancelled:
        break;
    }
    return nullptr;
}

}  // namespace

std::string whole_name(const std::string& space, const std::string& name)
{
    const bool parted = space.empty() || space.ends_with("__");
    return space + (parted ? "" : "__") + name;
}

ResponsesWording::ResponsesWording(ResponseAsked asked)
    : asked_(std::move(asked))
{
}

std::string ResponsesWording::piece(const TurnEvent& event)
{
    if (std::holds_alternative<Started>(event)) {
        std::string text = with_response("response.created", "in_progress");
        return text += with_response("response.in_progress", "in_progress");
    }
    if (const auto* text = std::get_if<TextPiece>(&event))
        return add(Item::Text, text->text);
    if (const auto* thought = std::get_if<ThoughtPiece>(&event))
        return add(Item::Thought, thought->text);
    if (const auto* call = std::get_if<CallBegun>(&event))
        return begin_call(*call);
    if (const auto* more = std::get_if<CallArguments>(&event))
        return add(Item::Call, more->text);
    if (const auto* failed = std::get_if<Failed>(&event))
        return fail(failed->refusal);
    return end(std::get<Ended>(event));
}

/// Returns the whole answer: the same items as in a stream, without the events.
std::string ResponsesWording::whole(const Answer& answer)
{
    if (!answer.thought.empty())
        add(Item::Thought, answer.thought);
    if (!answer.text.empty())
        add(Item::Text, answer.text);
    for (const Call& call : answer.calls) {
        begin_call({0, call.id, call.name});
        add(Item::Call, call.arguments);
    }
    finish(answer.ended);
    return whole_text();
}

/// Called when it is finished.
std::string ResponsesWording::whole_text() const
{
    return text_of(response(incomplete_.is_null() ? "completed" : "incomplete"));
}

Json ResponsesWording::response(const char* status) const
{
    Json json = {{"id", id_},
                 {"object", "response"},
                 {"created_at", created_},
                 {"status", status},
                 {"background", false},
                 {"error", error_},
                 {"incomplete_details", incomplete_},
                 {"output", output_},
                 {"usage", usage_}};
    json.update(asked_.about);
    return json;
}

std::string ResponsesWording::event(const char* type, const Json& fields)
{
    Json json = {{"type", type}, {"sequence_number", sequence_++}};
    json.update(fields);
    return event_of(json, type);
}

std::string ResponsesWording::with_response(const char* type, const char* status)
{
    return event(type, {{"response", response(status)}});
}

/// Names the open item and its place in the output.
Json ResponsesWording::place() const
{
    return {{"item_id", output_.back()["id"]}, {"output_index", output_.size() - 1}};
}

Json ResponsesWording::part(const std::string& text) const
{
    if (open_ == Item::Thought)
        return {{"type", "reasoning_text"}, {"text", text}};
    return {{"type", "output_text"}, {"text", text}, {"annotations", Json::array()}, {"logprobs", Json::array()}};
}

std::string ResponsesWording::open(Item kind, Json item)
{
    std::string text = close("completed");
    open_ = kind;
    output_.push_back(std::move(item));
    text += event("response.output_item.added", {{"output_index", output_.size() - 1}, {"item", output_.back()}});
    if (kind == Item::Call)
        return text;
    Json fields = place();
    fields.update({{"content_index", 0}, {"part", part("")}});
    return text + event("response.content_part.added", fields);
}

/// Opens an item of this kind, unless one is open.
std::string ResponsesWording::add(Item kind, const std::string& more)
{
    std::string text;
    if (open_ != kind && kind == Item::Thought)
        text = open(kind, {{"id", new_id("rs_")},
                           {"type", "reasoning"},
                           {"summary", Json::array()},
                           {"content", Json::array()},
                           {"status", "in_progress"}});
    else if (open_ != kind)
        text = open(kind, {{"id", new_id("msg_")},
                           {"type", "message"},
                           {"status", "in_progress"},
                           {"role", "assistant"},
                           {"content", Json::array()}});
    text_ += more;
    Json fields = place();
    if (kind == Item::Call) {
        fields["delta"] = more;
        return text + event("response.function_call_arguments.delta", fields);
    }
    fields.update({{"content_index", 0}, {"delta", more}});
    if (kind == Item::Thought)
        return text + event("response.reasoning_text.delta", fields);
    fields["logprobs"] = Json::array();
    return text + event("response.output_text.delta", fields);
}

std::string ResponsesWording::begin_call(const CallBegun& call)
{
    Json item = {{"id", new_id("fc_")}, {"type", "function_call"}, {"status", "in_progress"},
                 {"call_id", call.id},  {"name", call.name},       {"arguments", ""}};
    if (const auto in_space = asked_.functions.find(call.name); in_space != asked_.functions.end()) {
        item["namespace"] = in_space->second.space;
        item["name"] = in_space->second.name;
    }
    return open(Item::Call, std::move(item));
}

std::string ResponsesWording::close(const char* status)
{
    if (open_ == Item::None)
        return {};
    std::string text;
    Json& item = output_.back();
    item["status"] = status;
    Json fields = place();
    if (open_ == Item::Call) {
        item["arguments"] = text_;
        fields.update({{"name", item["name"]}, {"arguments", text_}});
        text = event("response.function_call_arguments.done", fields);
    } else {
        item["content"].push_back(part(text_));
        if (open_ == Item::Thought && asked_.returns_thoughts)
            item["encrypted_content"] = std::string(kOwnThought) + text_;
        fields["content_index"] = 0;
        Json with_text = fields;
        with_text["text"] = text_;
        if (open_ == Item::Text)
            with_text["logprobs"] = Json::array();
        text = event(open_ == Item::Text ? "response.output_text.done" : "response.reasoning_text.done", with_text);
        fields["part"] = part(text_);
        text += event("response.content_part.done", fields);
    }
    open_ = Item::None;
    text_.clear();
    return text + event("response.output_item.done", {{"output_index", output_.size() - 1}, {"item", item}});
}

/// Ends the response, after its last item was closed.
void ResponsesWording::finish(const Ended& ended)
{
    incomplete_ = incomplete_details(ended);
    close(incomplete_.is_null() ? "completed" : "incomplete");
    usage_ = {{"input_tokens", ended.prompt_tokens},
              {"input_tokens_details", {{"cached_tokens", ended.cached_tokens}}},
              {"output_tokens", ended.answer_tokens},
              {"output_tokens_details", {{"reasoning_tokens", ended.thought_tokens}}},
              {"total_tokens", ended.prompt_tokens + ended.answer_tokens}};
    keep();
}

std::string ResponsesWording::end(const Ended& ended)
{
    const bool complete = incomplete_details(ended).is_null();
    std::string text = close(complete ? "completed" : "incomplete");
    finish(ended);
    return text + (complete ? with_response("response.completed", "completed")
                            : with_response("response.incomplete", "incomplete"));
}

std::string ResponsesWording::fail(const Refusal& refusal)
{
    std::string text = close("incomplete");
    error_ = {{"code", refusal.kind == Refusal::Kind::PromptTooLong ? "context_length_exceeded" : "server_error"},
              {"message", refusal.sentence}};
    return text + with_response("response.failed", "failed");
}

/// Keeps the answer as a message of chat completions.
void ResponsesWording::keep()
{
    if (!asked_.kept)
        return;
    std::string said, thought;
    Json calls = Json::array();
    for (const Json& item : output_)
        if (item["type"] == "function_call")
            calls.push_back({{"id", item["call_id"]},
                             {"type", "function"},
                             {"function",
                              {{"name", whole_name(item.value("namespace", ""), item["name"].get<std::string>())},
                               {"arguments", item["arguments"]}}}});
        else
            (item["type"] == "reasoning" ? thought : said) += item["content"][0]["text"].get<std::string>();
    Json message = {{"role", "assistant"}, {"content", said}};
    if (!thought.empty())
        message["reasoning_content"] = thought;
    if (!calls.empty())
        message["tool_calls"] = std::move(calls);
    asked_.messages.push_back(std::move(message));
    asked_.kept->keep(id_, asked_.messages, output_, whole_text());
}

}  // namespace server
