#include "app/server/logit_bias.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace server {

namespace {

constexpr std::size_t kLongestText_bytes = 1000;

/// Returns the token that a value names; empty: it names none.
std::optional<int> token_of(const Json& given)
{
    if (given.is_number_integer() && given >= 0 && given <= std::numeric_limits<int>::max())
        return given.get<int>();
    if (!given.is_string())
        return std::nullopt;
    const auto& text = given.get_ref<const std::string&>();
    int id = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    return error == std::errc() && end == text.data() + text.size() && id >= 0 ? std::optional(id) : std::nullopt;
}

void take_bias(Fields& fields, const Json& of, const Json& value, engine::SamplingOptions& sampling)
{
    engine::LogitBias bias;
    const auto id = token_of(of);
    if (id)
        bias.id = *id;
    else if (of.is_string() && of.get_ref<const std::string&>().size() <= kLongestText_bytes)
        bias.text = of.get<std::string>();
    if (!id && bias.text.empty())
        return fields.refuse("logit_bias", "must name tokens by their ids, or by texts of at most 1000 bytes");
    if (value.is_number() && std::abs(value.get<double>()) <= 1e6)
        bias.bias = value.get<float>();
    else if (value == false)
        bias.bias = -std::numeric_limits<float>::infinity();
    else
        return fields.refuse("logit_bias", "must have a number or false for each token");
    sampling.logit_bias.push_back(std::move(bias));
}

}  // namespace

void read_logit_bias(Fields& fields, engine::SamplingOptions& sampling)
{
    const Json* given = fields.find("logit_bias");
    if (!given)
        return;
    if (given->is_object()) {
        for (const auto& [of, value] : given->items())
            take_bias(fields, of, value, sampling);
        return;
    }
    const auto is_pair = [](const Json& entry) { return entry.is_array() && entry.size() == 2; };
    if (!given->is_array() || !std::ranges::all_of(*given, is_pair))
        return fields.refuse("logit_bias", "must be an object of numbers, or an array of pairs");
    for (const Json& pair : *given)
        take_bias(fields, pair[0], pair[1], sampling);
}

Json said_logit_bias(const engine::SamplingOptions& sampling)
{
    Json all = Json::array();
    for (const engine::LogitBias& bias : sampling.logit_bias) {
        Json one = {{"token", bias.id}, {"bias", nullptr}};
        if (!bias.text.empty())
            one["token"] = bias.text;
        if (std::isfinite(bias.bias))
            one["bias"] = bias.bias;
        all.push_back(std::move(one));
    }
    return all;
}

}  // namespace server
