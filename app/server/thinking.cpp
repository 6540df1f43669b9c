#include "app/server/thinking.h"

#include <algorithm>
#include <array>

namespace server {

namespace {

// Qwen, GLM, Gemma 4 and most others; DeepSeek, Granite and Kimi K3; Command A.
constexpr std::array kSwitches = {"enable_thinking", "thinking", "reasoning"};
constexpr const char* kMode = "thinking_mode";      // MiniMax M3
constexpr const char* kBudget = "thinking_budget";  // Seed-OSS; tokens

}  // namespace

void add_thinking(Json& arguments, Thinking thinking)
{
    const auto says = [&](const char* name) { return arguments.contains(name); };
    if (std::ranges::any_of(kSwitches, says) || says(kMode) || says(kBudget))
        return;
    for (const char* name : kSwitches)
        arguments[name] = thinking != Thinking::Off;
    arguments[kMode] = thinking == Thinking::On ? "enabled" : thinking == Thinking::Off ? "disabled" : "adaptive";
    if (thinking == Thinking::Off)
        arguments[kBudget] = 0;
}

}  // namespace server
