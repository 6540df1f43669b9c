#include "app/server/template_fit.h"

#include "app/server/fields.h"
#include "app/server/prompted_tools.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace server {

namespace {

constexpr std::size_t kShortId = 9;  // bytes

/// Says whether a template takes ids of nine letters and digits only. Mistral's do, and contain these words for the
/// refusal of others.
bool takes_short_ids_only(std::string_view chat_template)
{
    return chat_template.find("Tool call IDs should be alphanumeric strings with length") != std::string_view::npos;
}

bool is_letter_or_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Returns a short id, always the same for the same id, so that a call and its result keep matching.
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

bool is_said_behind_result(const engine::Message& message, const engine::Message& next)
{
    return message.role == "tool" && next.role == "user";
}

bool has_text_behind_result(const std::vector<engine::Message>& messages)
{
    return std::ranges::adjacent_find(messages, is_said_behind_result) != messages.end();
}

bool give_late_to_user(std::vector<engine::Message>& messages)
{
    const bool any = has_late_system(messages);
    if (any)
        give_to_user(messages, 1);
    return any;
}

/// Makes what the user says right behind a tool's result part of that result. Mistral's templates skip calls and
/// results, and would see two messages of the user in a row there.
bool give_to_results(std::vector<engine::Message>& messages)
{
    std::vector<engine::Message> given;
    for (engine::Message& message : messages)
        if (!given.empty() && is_said_behind_result(given.back(), message))
            given.back().text += "\n\n" + message.text;
        else
            given.push_back(std::move(message));
    const bool any = given.size() < messages.size();
    messages = std::move(given);
    return any;
}

constexpr const char* kEffort = "reasoning_effort";

/// Returns the effort that is asked for; empty: none is.
std::string effort_of(const engine::Request& turn)
{
    const Json arguments = Json::parse(turn.template_arguments_json, nullptr, false);
    return Fields(arguments).text(kEffort).value_or("");
}

engine::Request with_effort(engine::Request turn, const std::string& effort)
{
    if (effort == effort_of(turn))
        return turn;
    Json arguments = Json::parse(turn.template_arguments_json, nullptr, false);
    if (effort.empty())
        arguments.erase(kEffort);
    else
        arguments[kEffort] = effort;
    turn.template_arguments_json = arguments.empty() ? std::string() : text_of(arguments);
    return turn;
}

/// Returns the efforts to try, the best first; the last one is empty, for the template's default. Efforts besides low,
/// medium and high are only tried where the template compares with these words.
std::vector<std::string> efforts_for(const std::string& asked, std::string_view chat_template)
{
    const auto compares_with = [&](const std::string& word) {
        return chat_template.find('\'' + word + '\'') != std::string_view::npos ||
               chat_template.find('"' + word + '"') != std::string_view::npos;
    };
    std::vector<std::string> efforts;
    const auto add_known = [&](const char* word) {
        if (compares_with(word))
            efforts.emplace_back(word);
    };
    if (asked == "max" || asked == "xhigh") {
        add_known(asked.c_str());
        if (asked == "max")
            add_known("xhigh");
        efforts.emplace_back("high");
    } else if (!asked.empty()) {
        efforts.push_back(asked);
    }
    if (asked == "high") {
        add_known("xhigh");
        efforts.emplace_back("medium");
    } else if (asked == "minimal") {
        efforts.emplace_back("low");
    }
    efforts.emplace_back();
    return efforts;
}

/// Tries whether the template takes a request. All tries together have the limits of one rendering, so that a very long
/// prompt does not take many times as long.
class TemplateTrial
{
public:
    TemplateTrial(const ModelText& text, const std::stop_token& stop)
        : text_(text)
        , stop_(stop)
    {
    }

    /// Changes a request as little as necessary. Returns whether the template takes it then.
    bool makes_fit(engine::Request& turn)
    {
        bool fits = !is_refused(turn);
        for (const auto change : {give_late_to_user, give_to_results})
            if (!fits && change(turn.messages))
                fits = !is_refused(turn);
        return fits;
    }

private:
    bool is_refused(engine::Request turn)
    {
        if (turn.continue_last)  // templates never get the answer that is to be continued
            turn.messages.pop_back();
        const auto prompt = text_.render(turn, &allowance_, stop_);
        return !prompt && prompt.error().code == engine::Error::Code::Template;
    }

    const ModelText& text_;
    const std::stop_token& stop_;
    engine::RenderAllowance allowance_;
};

/// Says whether a request contains something that templates are known to refuse, and that can be put in another way.
bool may_be_refused(const engine::Request& turn)
{
    return !turn.messages.empty() &&
           (has_late_system(turn.messages) || has_text_behind_result(turn.messages) || !effort_of(turn).empty());
}

}  // namespace

bool depends_on_template(const engine::Request& turn)
{
    return speaks_of_tools(turn) || may_be_refused(turn);
}

void fit_to_template(engine::Request& turn, const ModelText& text, const std::stop_token& stop)
{
    tell_of_tools(turn, text.chat_template());
    if (takes_short_ids_only(text.chat_template()))
        shorten_ids(turn.messages);
    if (!may_be_refused(turn))
        return;
    TemplateTrial trial(text, stop);
    for (const std::string& effort : efforts_for(effort_of(turn), text.chat_template())) {
        engine::Request fitted = with_effort(turn, effort);
        if (trial.makes_fit(fitted)) {
            turn = std::move(fitted);
            return;
        }
    }
}

void give_to_user(std::vector<engine::Message>& messages, std::size_t first)
{
    std::vector<engine::Message> given;
    bool goes_on = false;  // the last message ends with the system's words, and takes the user's next ones
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
