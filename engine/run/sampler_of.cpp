#include "engine/run/sampler_of.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace engine {

namespace {

std::vector<int> ids_of(std::string_view text, const Tokenizer& tokenizer)
{
    std::vector<int> ids;
    for (const Token& token : tokenizer.encode(text, {EncodeOptions::Specials::AsText, EncodeOptions::Start::Middle}))
        ids.push_back(token.id);
    return ids;
}

DryBreakers dry_breakers(const SamplingOptions& sampling, const Tokenizer& tokenizer)
{
    if (sampling.dry_multiplier <= 0.0f)
        return {};
    return DryBreakers::find(
        sampling.dry_sequence_breakers, tokenizer.size(), [&](int id) { return std::string(tokenizer.piece(id)); },
        [&](std::string_view text) { return ids_of(text, tokenizer); });
}

Status check_id(int id, const char* what, const Tokenizer& tokenizer)
{
    if (id >= 0 && id < tokenizer.size())
        return {};
    return fail(Error::Code::BadRequest, std::string(what) + " has the token " + std::to_string(id) +
                                             ", and the model's are 0 to " + std::to_string(tokenizer.size() - 1));
}

}  // namespace

Request with_biased_tokens(Request request, const Tokenizer& tokenizer)
{
    std::vector<LogitBias> all;
    for (LogitBias& bias : request.sampling.logit_bias) {
        if (all.size() > kMostBiases)
            break;
        if (bias.text.empty())
            all.push_back(std::move(bias));
        else
            for (const int id : ids_of(bias.text, tokenizer))
                all.push_back({.id = id, .bias = bias.bias});
    }
    request.sampling.logit_bias = std::move(all);
    return request;
}

Sampler sampler_of(const Request& request, const LoadedModel& model, std::uint64_t seed)
{
    SamplingOptions sampling = request.sampling;
    // An answer under a grammar or schema ends where its rules end, so `ignore_end` does not count for it.
    if (request.ignore_end && request.grammar.empty() && request.json_schema.empty())
        for (const int id : model.answer_ends())
            sampling.logit_bias.push_back({.id = id, .bias = -std::numeric_limits<float>::infinity()});
    return {sampling, model.info().vocabulary, seed, dry_breakers(sampling, model.tokenizer())};
}

Status check_ids(const Request& request, const Tokenizer& tokenizer)
{
    if (request.messages.empty() && request.raw_prompt.empty())
        for (const int id : request.raw_ids)
            if (Status ok = check_id(id, "the prompt", tokenizer); !ok)
                return ok;
    for (const LogitBias& bias : request.sampling.logit_bias)
        if (Status ok = check_id(bias.id, "a logit bias", tokenizer); !ok)
            return ok;
    return {};
}

}  // namespace engine
