#include "app/server/embeddings.h"

#include "app/server/raw_prompts.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

namespace server {

namespace {

constexpr std::size_t kMostInputs = 2048;  // OpenAI's own limit

/// Holds the embeddings of a request, and the tokens that were read for them.
struct Embedded {
    std::vector<std::vector<float>> rows;
    int tokens = 0;
};

/// Returns the first `count` numbers of a row, scaled to length 1 again: some models are trained for such shorter
/// embeddings.
std::vector<float> shortened(std::vector<float> row, std::size_t count)
{
    if (count >= row.size())
        return row;
    row.resize(count);
    double squares = 0;
    for (const float value : row)
        squares += double(value) * double(value);
    for (float& value : row)
        value = float(double(value) / (squares > 0 ? std::sqrt(squares) : 1));
    return row;
}

std::string base64_of(const std::vector<float>& row)
{
    static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    for (const float value : row)
        for (int shift = 0; shift < 32; shift += 8)  // little endian
            bytes += char(std::bit_cast<std::uint32_t>(value) >> shift & 0xff);
    std::string text;
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
        std::uint32_t three = 0;
        for (std::size_t i = 0; i < 3; ++i)
            three = three << 8 | (i < count ? std::uint8_t(bytes[at + i]) : 0u);
        for (std::size_t i = 0; i < 4; ++i)
            text += i <= count ? kDigits[three >> (18 - 6 * i) & 63] : '=';
    }
    return text;
}

/// Embeds the texts of a request, and loads the model unless it is loaded.
tl::expected<std::vector<engine::Embedding>, Refusal> embeddings_of(const std::vector<RawPrompt>& prompts,
                                                                    const PlainRequest& request, const char* field)
{
    const auto file = request.models.find(request.served->name);
    if (!file)
        return tl::unexpected(Refusal{Refusal::Kind::Busy, file.error().sentence});
    std::vector<engine::EmbeddingInput> texts;
    for (const RawPrompt& prompt : prompts)
        texts.push_back({prompt.text, prompt.ids});
    auto made = request.desk.embed(*file, texts, request.client_is_gone);
    if (made)
        return std::move(*made);
    if (request.client_is_gone())
        return tl::unexpected(Refusal{Refusal::Kind::Failed, "the client is gone"});
    if (made.error().code == engine::Error::Code::ContextFull)
        return tl::unexpected(Refusal{Refusal::Kind::BadRequest, made.error().what, field});
    return tl::unexpected(refusal_of(made.error()));
}

tl::expected<Embedded, Refusal> embedded(const PlainRequest& request, Fields& fields, const char* field)
{
    if (!request.served->info.embeds)
        return tl::unexpected(Refusal{Refusal::Kind::NotSupported,
                                      "the model '" + request.served->name + "' writes text and gives no embeddings",
                                      "model"});
    const auto prompts = read_raw_prompts(fields, field, kMostInputs);
    if (std::ranges::any_of(prompts, [](const RawPrompt& prompt) { return !prompt.mixed.empty(); }))
        fields.refuse(field, "must be texts or tokens, not both in one");
    const auto dimensions = fields.integer("dimensions", 1, 1 << 20);
    if (fields.refusal())
        return tl::unexpected(*fields.refusal());
    auto made = embeddings_of(prompts, request, field);
    if (!made)
        return tl::unexpected(std::move(made.error()));
    Embedded all;
    for (engine::Embedding& embedding : *made) {
        all.tokens += embedding.tokens;
        const std::size_t whole = embedding.values.size();
        all.rows.push_back(shortened(std::move(embedding.values), dimensions ? std::size_t(*dimensions) : whole));
    }
    return all;
}

}  // namespace

PlainAnswer openai_embeddings(const PlainRequest& request)
{
    Fields fields(request.body);
    const std::string format = fields.text("encoding_format").value_or("float");
    if (format != "float" && format != "base64")
        fields.refuse("encoding_format", "must be 'float' or 'base64'");
    const auto all = embedded(request, fields, "input");
    if (!all)
        return tl::unexpected(all.error());
    Json data = Json::array();
    for (const auto& row : all->rows)
        data.push_back({{"object", "embedding"},
                        {"index", data.size()},
                        {"embedding", format == "base64" ? Json(base64_of(row)) : Json(row)}});
    return text_of(Json{{"object", "list"},
                        {"data", std::move(data)},
                        {"model", request.served->name},
                        {"usage", {{"prompt_tokens", all->tokens}, {"total_tokens", all->tokens}}}});
}

/// Ignores `truncate`: a text that is too long is always an error, and is never cut silently.
PlainAnswer ollama_embed(const PlainRequest& request)
{
    Fields fields(request.body);
    const auto all = embedded(request, fields, "input");
    if (!all)
        return tl::unexpected(all.error());
    return text_of(
        Json{{"model", request.served->name}, {"embeddings", all->rows}, {"prompt_eval_count", all->tokens}});
}

PlainAnswer ollama_embeddings(const PlainRequest& request)
{
    Fields fields(request.body);
    const auto all = embedded(request, fields, "prompt");
    if (!all)
        return tl::unexpected(all.error());
    return text_of(Json{{"embedding", all->rows.front()}});
}

}  // namespace server
