#include "engine/run/turn_end.h"

#include "engine/template/chat_template.h"
#include "engine/tokenizer/reasoning_marks.h"
#include "engine/tokenizer/tokenizer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

namespace engine {

namespace {

// Words that no template writes, and that none takes for anything else than words.
constexpr std::string_view kQuestion = "xqx", kAnswer = "xax", kNext = "xnx";

std::optional<std::string> rendered(const ChatTemplate& chat_template, const Tokenizer& tokenizer, bool answered)
{
    using Json = nlohmann::ordered_json;
    Json variables = {{"messages", Json::array()}, {"add_generation_prompt", false}};
    const auto say = [&](const char* role, std::string_view words) {
        variables["messages"].push_back({{"role", role}, {"content", chat_template.content(words)}});
    };
    say("user", kQuestion);
    if (answered) {
        say("assistant", kAnswer);
        say("user", kNext);
    }
    variables["bos_token"] = tokenizer.bos() >= 0 ? std::string(tokenizer.text(tokenizer.bos())) : "";
    variables["eos_token"] = tokenizer.eos() >= 0 ? std::string(tokenizer.text(tokenizer.eos())) : "";
    RenderOptions options;
    options.max_steps = 200'000;  // real ones take a hundredth
    auto text = chat_template.render(variables, options);
    return text ? std::optional(std::move(*text)) : std::nullopt;
}

/// Returns the special tokens of a text, in order. A user-defined one counts at the beginning alone: others are words.
std::vector<int> special_tokens(const Tokenizer& tokenizer, std::string_view text)
{
    std::vector<int> found;
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    const EncodeOptions options{EncodeOptions::Specials::Parse, EncodeOptions::Start::Middle};
    for (const Token& token : tokenizer.encode(text, options))
        if (tokenizer.is_special(token.id) || (token.begin == first && tokenizer.is_user_defined(token.id)))
            found.push_back(token.id);
    return found;
}

}  // namespace

int turn_end(const ChatTemplate& chat_template, const Tokenizer& tokenizer)
{
    const auto whole = rendered(chat_template, tokenizer, true);
    if (!whole)
        return kNoToken;
    const std::string_view text = *whole;
    const std::size_t answer = text.find(kAnswer), next = text.find(kNext);
    if (answer == std::string_view::npos || next == std::string_view::npos || next < answer)
        return kNoToken;
    // Tokens that stand in an answer before its words, such as an empty thought, end none; but what begins an answer
    // would begin the next message.
    std::vector<int> inside;
    const auto question = rendered(chat_template, tokenizer, false);
    if (question && text.starts_with(*question) && question->size() <= answer)
        inside = special_tokens(tokenizer, text.substr(question->size(), answer - question->size()));
    if (!inside.empty())
        inside.erase(inside.begin());
    for (const std::string_view mark : single_token_marks())
        inside.push_back(tokenizer.find(mark));

    const std::string_view behind = text.substr(answer + kAnswer.size(), next - answer - kAnswer.size());
    for (const int id : special_tokens(tokenizer, behind))
        if (std::ranges::find(inside, id) == inside.end()) {
            // gpt-oss shows such a token: behind it the same turn may go on.
            const bool goes_on = tokenizer.is_special(id) && !tokenizer.piece(id).empty();
            return goes_on ? kNoToken : id;
        }
    return kNoToken;
}

}  // namespace engine
