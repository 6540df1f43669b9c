#include "app/server/raw_prompts.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace server {

namespace {

constexpr std::size_t kMostAnswers = 64;                         // to one request: as many turns as may wait
constexpr std::size_t kMostSuffixBytes = std::size_t(32) << 20;  // of all prompts, each of which has its own copy

bool is_token(const Json& value)
{
    return value.is_number_integer() && value >= 0 && value <= std::numeric_limits<int>::max();
}

bool is_text(const Json& value)
{
    return value.is_string() && !value.get_ref<const std::string&>().empty();
}

bool is_part(const Json& value)
{
    return is_token(value) || is_text(value);
}

RawPrompt prompt_of_parts(const Json& parts)
{
    if (std::ranges::all_of(parts, is_token))
        return {.ids = parts.get<std::vector<int>>()};
    RawPrompt prompt;
    for (const Json& part : parts)
        if (part.is_string())
            prompt.mixed.emplace_back(part.get<std::string>());
        else
            prompt.mixed.emplace_back(part.get<int>());
    return prompt;
}

RawPrompt prompt_of(Fields& fields, const char* name, const Json& given)
{
    if (is_text(given))
        return {.text = given.get<std::string>()};
    if (given.is_array() && !given.empty() && std::ranges::all_of(given, is_part))
        return prompt_of_parts(given);
    if (given.is_object()) {
        Fields inner(given);
        inner.not_supported("multimodal_data", Json::array());
        const std::string text = inner.text("prompt_string").value_or("");
        if (inner.refusal())
            fields.refuse(name, "has a part whose " + inner.refusal()->sentence, inner.refusal()->kind);
        if (!text.empty())
            return {.text = text};
    }
    fields.refuse(name, "must be a text or tokens, not empty, or an array of such");
    return {};
}

}  // namespace

std::vector<RawPrompt> read_raw_prompts(Fields& fields, const char* name, std::size_t most)
{
    const Json* given = fields.find(name);
    const bool several = given && given->is_array() && !given->empty() && std::ranges::none_of(*given, is_token);
    if (!several)
        return {prompt_of(fields, name, given ? *given : Json())};
    std::vector<RawPrompt> prompts;
    if (given->size() > most)
        fields.refuse(name, "may have " + std::to_string(most) + " entries here at most");
    else
        for (const Json& one : *given)
            prompts.push_back(prompt_of(fields, name, one));
    return prompts;
}

void read_prompts(Fields& fields, Ask& ask)
{
    ask.prompts = read_raw_prompts(fields, "prompt", kMostAnswers / std::size_t(std::max(ask.choices, 1)));
}

void read_prompts_and_suffix(Fields& fields, Ask& ask)
{
    const std::string suffix = fields.text("suffix").value_or("");
    if (suffix.empty())
        return read_prompts(fields, ask);
    const Json* prompt = fields.find("prompt");
    if (!prompt || is_empty_text(*prompt))
        ask.prompts = {RawPrompt()};
    else
        read_prompts(fields, ask);
    if (suffix.size() > kMostSuffixBytes / std::max<std::size_t>(ask.prompts.size(), 1))
        return fields.refuse("suffix", "is too long for so many prompts");
    for (RawPrompt& one : ask.prompts) {
        if (!one.ids.empty() || !one.mixed.empty())
            fields.refuse("suffix", "may only be given with a prompt that is a text");
        one = RawPrompt{.gap = Gap{.before = std::move(one.text), .after = suffix}};
    }
}

bool has_mixed_prompts(const Ask& ask)
{
    return std::ranges::any_of(ask.prompts, [](const RawPrompt& prompt) { return !prompt.mixed.empty(); });
}

engine::Status make_tokens_of_mixed(Ask& ask, ModelText& text)
{
    for (RawPrompt& prompt : ask.prompts) {
        for (const auto& part : prompt.mixed) {
            if (const int* id = std::get_if<int>(&part)) {
                prompt.ids.push_back(*id);
                continue;
            }
            const bool begins = prompt.ids.empty();
            const auto ids = text.tokenize(std::get<std::string>(part), {.bos = begins, .specials = true});
            if (!ids)
                return tl::unexpected(ids.error());
            prompt.ids.insert(prompt.ids.end(), ids->begin(), ids->end());
        }
        prompt.mixed.clear();
    }
    return {};
}

}  // namespace server
