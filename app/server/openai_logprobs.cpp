#include "app/server/openai_logprobs.h"

#include <algorithm>
#include <string>

namespace server {

namespace {

constexpr std::int64_t kMostLikely = 20;  // OpenAI's own bound

Json likely_token(const engine::LikelyToken& token)
{
    Json bytes = Json::array();
    for (const char byte : token.bytes)
        bytes.push_back(static_cast<unsigned char>(byte));
    return {{"id", token.id}, {"token", token.bytes}, {"logprob", token.logprob}, {"bytes", std::move(bytes)}};
}

std::size_t characters(const std::string& text)
{
    return std::size_t(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

void read_chat_logprobs(Fields& fields, engine::Request& turn)
{
    const bool wanted = fields.flag("logprobs").value_or(false);
    const auto likeliest = fields.integer("top_logprobs", 0, kMostLikely);
    if (likeliest.value_or(0) > 0 && !wanted)
        fields.refuse("top_logprobs", "is only there with 'logprobs'");
    if (wanted)
        turn.top_logprobs = int(likeliest.value_or(0));
}

void read_completion_logprobs(Fields& fields, engine::Request& turn)
{
    if (const Json* given = fields.find("logprobs"); given && *given == false)
        return;
    if (const auto likeliest = fields.integer("logprobs", 0, kMostLikely))
        turn.top_logprobs = int(*likeliest);
}

Json token_logprobs(const std::vector<engine::TokenLogprobs>& tokens)
{
    Json content = Json::array();
    for (const engine::TokenLogprobs& token : tokens) {
        Json one = likely_token(token.written);
        one["top_logprobs"] = Json::array();
        for (const engine::LikelyToken& likely : token.likeliest)
            one["top_logprobs"].push_back(likely_token(likely));
        content.push_back(std::move(one));
    }
    return content;
}

Json chat_logprobs(const std::vector<engine::TokenLogprobs>& tokens)
{
    if (tokens.empty())
        return nullptr;
    return {{"content", token_logprobs(tokens)}, {"refusal", nullptr}};
}

Json CompletionLogprobs::next(const std::vector<engine::TokenLogprobs>& tokens)
{
    if (tokens.empty())
        return nullptr;
    Json texts = Json::array(), logprobs = Json::array(), likeliest = Json::array(), offsets = Json::array();
    for (const engine::TokenLogprobs& token : tokens) {
        texts.push_back(token.written.bytes);
        logprobs.push_back(token.written.logprob);
        offsets.push_back(offset_);
        offset_ += characters(token.written.bytes);
        Json by_text = Json::object();
        for (const engine::LikelyToken& likely : token.likeliest)
            by_text.emplace(likely.bytes, likely.logprob);  // the likeliest of those that look alike
        likeliest.push_back(std::move(by_text));
    }
    return {{"tokens", std::move(texts)},
            {"token_logprobs", std::move(logprobs)},
            {"top_logprobs", std::move(likeliest)},
            {"text_offset", std::move(offsets)}};
}

}  // namespace server
