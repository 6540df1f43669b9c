#include "app/server/template_fit.h"

#include "app/server/prompted_tools.h"

#include <algorithm>
#include <utility>

namespace server {

namespace {

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
        if (is_systems)
            message.role = "user";
        const bool follows_user = message.role == "user" && !given.empty() && given.back().role == "user";
        if (follows_user && (is_systems || goes_on))
            given.back().text += "\n\n" + message.text;
        else
            given.push_back(std::move(message));
        goes_on = is_systems;
    }
    messages = std::move(given);
}

}  // namespace server
