// Renders any text as a template, for libFuzzer: it parses and renders, or gets an error, soon and in bounded memory.
// The bytes behind a zero byte are a message's content.
#include "engine/template/chat_template.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

static nlohmann::ordered_json variables(const std::string& content)
{
    nlohmann::ordered_json json;
    json["messages"] = {
        {{"role", "system"}, {"content", content}},
        {{"role", "user"}, {"content", "Hi, 世界"}},
        {{"role", "assistant"},
         {"content", nullptr},
         {"tool_calls", {{{"function", {{"name", "f"}, {"arguments", {{"a", 1.5}, {"b", {true, nullptr}}}}}}}}}}};
    json["tools"] = {{{"type", "function"}, {"function", {{"name", "f"}, {"parameters", {{"type", "object"}}}}}}};
    json["add_generation_prompt"] = true;
    json["bos_token"] = "<s>";
    json["eos_token"] = "</s>";
    json["enable_thinking"] = false;
    return json;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string input(reinterpret_cast<const char*>(data), size);
    const std::size_t zero = std::min(input.find('\0'), input.size());
    const auto parsed = engine::ChatTemplate::parse(input.substr(0, zero));
    if (!parsed)
        return 0;
    engine::RenderOptions options;
    options.now = std::tm{};
    options.max_steps = 300'000;  // the shipped limits under sanitizers would make each hostile input take seconds
    (void)parsed->arguments();
    (void)parsed->render(variables(zero < input.size() ? input.substr(zero + 1) : "Be brief."), options);
    return 0;
}
