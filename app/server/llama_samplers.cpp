#include "app/server/llama_samplers.h"

#include "app/server/logit_bias.h"

#include <algorithm>
#include <array>
#include <vector>

namespace server {

namespace {

using engine::SamplingOptions;

struct NamedSampler {
    std::array<const char*, 3> names;  // the last one in a list that is a text
    bool (*is_on)(const SamplingOptions&);
    void (*switch_off)(SamplingOptions&);
};

// In the order in which the engine applies them.
const std::array<NamedSampler, 8> kSamplers = {{
    {{"penalties", "penalties", "e"},
     [](const SamplingOptions& s) {
         return s.repeat_penalty != 1 || s.presence_penalty != 0 || s.frequency_penalty != 0;
     },
     [](SamplingOptions& s) {
         s.repeat_penalty = 1;
         s.presence_penalty = s.frequency_penalty = 0;
     }},
    {{"dry", "dry", "d"},
     [](const SamplingOptions& s) { return s.dry_multiplier > 0; },
     [](SamplingOptions& s) { s.dry_multiplier = 0; }},
    {{"top_k", "top_k", "k"},
     [](const SamplingOptions& s) { return s.top_k > 0; },
     [](SamplingOptions& s) { s.top_k = 0; }},
    {{"typ_p", "typical_p", "y"},
     [](const SamplingOptions& s) { return s.typical_p < 1; },
     [](SamplingOptions& s) { s.typical_p = 1; }},
    {{"top_p", "top_p", "p"},
     [](const SamplingOptions& s) { return s.top_p < 1; },
     [](SamplingOptions& s) { s.top_p = 1; }},
    {{"min_p", "min_p", "m"},
     [](const SamplingOptions& s) { return s.min_p > 0; },
     [](SamplingOptions& s) { s.min_p = 0; }},
    {{"xtc", "xtc", "x"},
     [](const SamplingOptions& s) { return s.xtc_probability > 0; },
     [](SamplingOptions& s) { s.xtc_probability = 0; }},
    {{"temperature", "temp", "t"},
     [](const SamplingOptions& s) { return s.temperature != 1; },
     [](SamplingOptions& s) { s.temperature = 1; }},
}};

/// Refuses a number above `off`. Numbers below count as off, too, since clients send them for samplers that the user
/// did not choose.
void refuse_above(Fields& fields, const char* name, double off)
{
    if (const Json* value = fields.find(name); value && !(value->is_number() && value->get<double>() <= off))
        fields.refuse(name, "is not supported here", Refusal::Kind::NotSupported);
}

/// Returns their names; a text has one in each letter.
std::vector<std::string> listed_samplers(Fields& fields)
{
    std::vector<std::string> listed = fields.texts("samplers");
    if (!fields.find("samplers")->is_string())
        return listed;
    std::vector<std::string> letters;
    for (const char letter : listed.front())
        letters.emplace_back(1, letter);
    return letters;
}

}  // namespace

void read_samplers(Fields& fields, SamplingOptions& sampling)
{
    for (const char* name : {"mirostat", "dynatemp_range", "top_n_sigma", "min_keep"})
        refuse_above(fields, name, 0);
    refuse_above(fields, "adaptive_target", -1e-9);
    fields.not_supported("tfs_z", 1);
    if (!fields.find("samplers"))
        return;
    const std::vector<std::string> listed = listed_samplers(fields);
    const auto is_named = [](const std::string& name, const auto& names) {
        return std::ranges::any_of(names, [&](const char* one) { return name == one; });
    };
    std::vector<std::ptrdiff_t> places;
    for (const NamedSampler& sampler : kSamplers) {
        const auto place =
            std::ranges::find_if(listed, [&](const std::string& name) { return is_named(name, sampler.names); });
        if (place == listed.end())
            sampler.switch_off(sampling);
        else if (sampler.is_on(sampling))
            places.push_back(place - listed.begin());
    }
    // It leaves tokens that are very likely, and of several that begin alike the likeliest.
    if (std::ranges::any_of(listed, [](const std::string& name) { return name == "infill" || name == "i"; }))
        sampling.temperature = 0;
    if (!std::ranges::is_sorted(places))
        fields.refuse("samplers",
                      "asks for another order than penalties, dry, top_k, typ_p, top_p, min_p, xtc, temperature, "
                      "which is the one here",
                      Refusal::Kind::NotSupported);
}

Json said_sampling(const SamplingOptions& s)
{
    return {{"seed", s.seed ? Json(*s.seed) : Json(-1)},
            {"temperature", s.temperature},
            {"top_k", s.top_k},
            {"top_p", s.top_p},
            {"min_p", s.min_p},
            {"typical_p", s.typical_p},
            {"repeat_penalty", s.repeat_penalty},
            {"repeat_last_n", s.repeat_last_n},
            {"presence_penalty", s.presence_penalty},
            {"frequency_penalty", s.frequency_penalty},
            {"dry_multiplier", s.dry_multiplier},
            {"dry_base", s.dry_base},
            {"dry_allowed_length", s.dry_allowed_length},
            {"dry_penalty_last_n", s.dry_penalty_last_n},
            {"dry_sequence_breakers", s.dry_sequence_breakers},
            {"xtc_probability", s.xtc_probability},
            {"xtc_threshold", s.xtc_threshold},
            {"logit_bias", said_logit_bias(s)}};
}

}  // namespace server
