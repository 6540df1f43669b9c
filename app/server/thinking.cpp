#include "app/server/thinking.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace server {

namespace {

// Qwen, GLM, Gemma 4 and most others; DeepSeek, Granite and Kimi K3; Command A.
constexpr std::array kSwitches = {"enable_thinking", "thinking", "reasoning"};
constexpr const char* kMode = "thinking_mode";      // MiniMax M3
constexpr const char* kBudget = "thinking_budget";  // Seed-OSS; tokens

/// Counts the names by which the arguments say it already.
std::ptrdiff_t names_in(const Json& arguments)
{
    const auto says = [&](const char* name) { return arguments.contains(name); };
    return std::ranges::count_if(kSwitches, says) + says(kMode) + says(kBudget);
}

}  // namespace

void add_thinking(Json& arguments, Thinking thinking)
{
    if (names_in(arguments) > 0)
        return;
    for (const char* name : kSwitches)
        arguments[name] = thinking != Thinking::Off;
    arguments[kMode] = thinking == Thinking::On ? "enabled" : thinking == Thinking::Off ? "disabled" : "adaptive";
    if (thinking == Thinking::Off)
        arguments[kBudget] = 0;
}

void name_thinking_otherwise(Json& arguments)
{
    const auto said = arguments.find("enable_thinking");
    if (said == arguments.end() || !said->is_boolean() || names_in(arguments) > 1)
        return;
    const bool thinks = said->get<bool>();
    arguments.erase(said);
    add_thinking(arguments, thinks ? Thinking::On : Thinking::Off);
}

}  // namespace server
