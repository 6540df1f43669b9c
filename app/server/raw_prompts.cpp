#include "app/server/raw_prompts.h"

#include <algorithm>
#include <limits>

namespace server {

namespace {

constexpr std::size_t kMostPrompts = 64;

bool is_token(const Json& value)
{
    return value.is_number_integer() && value >= 0 && value <= std::numeric_limits<int>::max();
}

bool are_tokens(const Json& value)
{
    return value.is_array() && !value.empty() && std::ranges::all_of(value, is_token);
}

RawPrompt prompt_of(Fields& fields, const Json& given)
{
    if (given.is_string() && given != "")
        return {given.get<std::string>()};
    if (are_tokens(given))
        return {{}, given.get<std::vector<int>>()};
    if (given.is_object()) {
        Fields inner(given);
        inner.not_supported("multimodal_data", Json::array());
        const std::string text = inner.text("prompt_string").value_or("");
        if (inner.refusal())
            fields.refuse("prompt", "has a part whose " + inner.refusal()->sentence, inner.refusal()->kind);
        if (!text.empty())
            return {text};
    }
    if (given.is_array() && std::ranges::any_of(given, is_token))
        fields.refuse("prompt", "has tokens together with other things, which is not supported here",
                      Refusal::Kind::NotSupported);
    else
        fields.refuse("prompt", "must be a text or tokens, not empty, or an array of such");
    return {};
}

}  // namespace

void read_prompts(Fields& fields, Ask& ask)
{
    const Json* given = fields.find("prompt");
    const bool several = given && given->is_array() && !given->empty() && std::ranges::none_of(*given, is_token);
    if (!several) {
        const RawPrompt prompt = prompt_of(fields, given ? *given : Json());
        ask.turn.raw_prompt = prompt.text;
        ask.turn.raw_ids = prompt.ids;
        return;
    }
    if (given->size() > kMostPrompts)
        fields.refuse("prompt", "has more than " + std::to_string(kMostPrompts) + " prompts");
    else
        for (const Json& one : *given)
            ask.prompts.push_back(prompt_of(fields, one));
}

}  // namespace server
