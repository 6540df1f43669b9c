#include "app/server/prompted_tools.h"

#include "app/server/fields.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace server {

namespace {

std::string told(const Json& tools)
{
    std::string text = "You may call functions. Each line describes one, as JSON:\n";
    for (const Json& tool : tools)
        text += text_of(tool["function"]) + "\n";
    return text +
           "To call one, answer with nothing but JSON: {\"name\": \"its name\", \"arguments\": {}}, with what it "
           "is to be given as arguments. For several calls at once, answer with a list of such objects.";
}

Json more_of(const engine::Message& message)
{
    Json more = Json::parse(message.more_json, nullptr, false);
    return more.is_object() ? more : Json::object();
}

/// Writes earlier calls into the message's text, as the model is asked to write them.
void write_calls(engine::Message& message)
{
    Json calls = Json::array();
    for (const Json& call : more_of(message).value("tool_calls", Json::array()))
        if (const Json* function = Fields(call).object("function"))
            calls.push_back({{"name", function->value("name", Json(""))},
                             {"arguments", function->value("arguments", Json::object())}});
    if (calls.empty())
        return;
    message.text += (message.text.empty() ? "" : "\n") + text_of(calls.size() == 1 ? calls.front() : calls);
    message.more_json.clear();
}

void write_result(engine::Message& message)
{
    const Json more = more_of(message);
    const std::string name = Fields(more).text("name").value_or("the function");
    message = {"user", name + " returned:\n" + message.text, {}};
}

/// Writes calls and results as text of messages. The results of several calls and the user's next words become one
/// message, since many templates only take roles that alternate.
void write_calls_and_results(std::vector<engine::Message>& messages)
{
    std::vector<engine::Message> written;
    bool behind_result = false;
    for (engine::Message& message : messages) {
        const bool is_result = message.role == "tool";
        if (message.role == "assistant")
            write_calls(message);
        if (is_result)
            write_result(message);
        if (behind_result && message.role == "user")
            written.back().text += "\n\n" + message.text;
        else
            written.push_back(std::move(message));
        behind_result = is_result;
    }
    messages = std::move(written);
}

}  // namespace

bool knows_tools(std::string_view chat_template)
{
    return chat_template.find("tools") != std::string_view::npos;
}

bool speaks_of_tools(const engine::Request& turn)
{
    return !turn.tools_json.empty() || std::ranges::any_of(turn.messages, [](const engine::Message& message) {
        return message.role == "tool" || !message.more_json.empty();
    });
}

void tell_of_tools(engine::Request& turn, std::string_view chat_template)
{
    if (turn.messages.empty() || knows_tools(chat_template))
        return;
    write_calls_and_results(turn.messages);
    const Json tools = Json::parse(turn.tools_json, nullptr, false);
    if (!tools.is_array() || tools.empty())
        return;
    if (turn.messages.front().role != "system")
        turn.messages.insert(turn.messages.begin(), {"system", {}, {}});
    std::string& system = turn.messages.front().text;
    system += (system.empty() ? "" : "\n\n") + told(tools);
}

}  // namespace server
