#include "app/server/template_fit.h"

#include "app/server/fields.h"
#include "app/server/prompted_tools.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace server {

namespace {

constexpr std::size_t kShortId = 9;  // bytes

/// Mistral's do, and say so in these words when they refuse one.
bool takes_short_ids_only(std::string_view chat_template)
{
    return chat_template.find("Tool call IDs should be alphanumeric strings with length") != std::string_view::npos;
}

bool is_letter_or_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// The same for the same id, which is in a call and in its result.
std::string short_id(const std::string& id)
{
    if (id.size() == kShortId && std::ranges::all_of(id, is_letter_or_digit))
        return id;
    constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyz";
    std::uint64_t hash = 14695981039346656037u;  // FNV-1a
    for (const char c : id)
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    std::string letters;
    for (; letters.size() < kShortId; hash /= kDigits.size())
        letters += kDigits[std::size_t(hash % kDigits.size())];
    return letters;
}

void shorten(Json& object, const char* name)
{
    if (object.is_object() && object.contains(name) && object[name].is_string())
        object[name] = short_id(object[name].get<std::string>());
}

void shorten_ids(std::vector<engine::Message>& messages)
{
    for (engine::Message& message : messages) {
        Json more = Json::parse(message.more_json, nullptr, false);
        if (!more.is_object())
            continue;
        shorten(more, "tool_call_id");
        if (const auto calls = more.find("tool_calls"); calls != more.end())
            for (Json& call : *calls)
                shorten(call, "id");
        message.more_json = text_of(more);
    }
}

bool has_late_system(const std::vector<engine::Message>& messages)
{
    const auto is_systems = [](const engine::Message& message) { return message.role == "system"; };
    return !messages.empty() && std::any_of(messages.begin() + 1, messages.end(), is_systems);
}

bool is_refused(engine::Request turn, const ModelText& text)
{
    if (turn.continue_last)  // which no template is given
        turn.messages.pop_back();
    const auto prompt = text.render(turn);
    return !prompt && prompt.error().code == engine::Error::Code::Template;
}

}  // namespace

bool depends_on_template(const engine::Request& turn)
{
    return speaks_of_tools(turn) || has_late_system(turn.messages);
}

void fit_to_template(engine::Request& turn, const ModelText& text)
{
    tell_of_tools(turn, text.chat_template());
    if (takes_short_ids_only(text.chat_template()))
        shorten_ids(turn.messages);
    if (has_late_system(turn.messages) && is_refused(turn, text))
        give_to_user(turn.messages, 1);
}

void give_to_user(std::vector<engine::Message>& messages, std::size_t first)
{
    std::vector<engine::Message> given;
    bool goes_on = false;  // the last message ends with the system's words: what the user says next belongs to it
    for (std::size_t i = 0; i < messages.size(); ++i) {
        engine::Message& message = messages[i];
        const bool is_systems = message.role == "system" && i >= first;
        if (is_systems && message.text.empty())
            continue;
        const std::string before = given.empty() ? std::string() : given.back().role;
        if (is_systems)
            message.role = "user";
        const bool belongs_to_users = message.role == "user" && before == "user" && (is_systems || goes_on);
        if (belongs_to_users || (is_systems && before == "tool"))
            given.back().text += "\n\n" + message.text;
        else
            given.push_back(std::move(message));
        goes_on = is_systems;
    }
    messages = std::move(given);
}

}  // namespace server
