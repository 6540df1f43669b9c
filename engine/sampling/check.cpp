// Says which sampling options can be used at all.
#include "engine/sampling/sampler.h"

#include <limits>
#include <string>

namespace engine {

/// A range with the sentence's words for it. NaN lies in no range.
struct Limit {
    const char* name;
    float value;
    float least;
    float most;
    const char* range;
};

static constexpr float kAny = std::numeric_limits<float>::max();

Status check(const SamplingOptions& o)
{
    const Limit limits[] = {
        {"temperature", o.temperature, 0.0f, kAny, "0 (greedy) or more"},
        {"top-p", o.top_p, 0.0f, 1.0f, "between 0 and 1"},
        {"min-p", o.min_p, 0.0f, 1.0f, "between 0 and 1"},
        {"typical-p", o.typical_p, 0.0f, 1.0f, "between 0 and 1"},
        {"repeat penalty", o.repeat_penalty, std::numeric_limits<float>::min(), kAny, "more than 0"},
        {"presence penalty", o.presence_penalty, -kAny, kAny, "a number"},
        {"frequency penalty", o.frequency_penalty, -kAny, kAny, "a number"},
        {"DRY multiplier", o.dry_multiplier, 0.0f, kAny, "0 (off) or more"},
        {"DRY base", o.dry_base, 1.0f, kAny, "1 or more"},
        {"XTC probability", o.xtc_probability, 0.0f, 1.0f, "between 0 and 1"},
        {"XTC threshold", o.xtc_threshold, 0.0f, 1.0f, "between 0 and 1"},
    };
    for (const Limit& limit : limits)
        if (!(limit.value >= limit.least && limit.value <= limit.most))
            return fail(Error::Code::BadRequest, std::string("the ") + limit.name + " must be " + limit.range);

    struct Count {
        const char* name;
        int value;
        int least;
        const char* range;
    };
    const Count counts[] = {
        {"top-k", o.top_k, 0, "0 (off) or more"},
        {"repeat penalty's window", o.repeat_last_n, -1, "-1 (the whole context) or more"},
        {"DRY allowed length", o.dry_allowed_length, 1, "1 or more"},
        {"DRY window", o.dry_penalty_last_n, -1, "-1 (the whole context) or more"},
    };
    for (const Count& count : counts)
        if (count.value < count.least)
            return fail(Error::Code::BadRequest, std::string("the ") + count.name + " must be " + count.range);

    if (o.logit_bias.size() > kMostBiases)
        return fail(Error::Code::BadRequest, "there may be at most " + std::to_string(kMostBiases) +
                                                 " logit biases, each token of a text counted");
    for (const LogitBias& bias : o.logit_bias)
        if (!(bias.bias <= kAny))
            return fail(Error::Code::BadRequest, "a logit bias must be a number, or minus infinity");

    constexpr std::size_t kMaxBreakers = 64;  // each is looked for in the whole vocabulary
    if (o.dry_sequence_breakers.size() > kMaxBreakers)
        return fail(Error::Code::BadRequest, "there may be at most 64 DRY sequence breakers");
    return {};
}

}  // namespace engine
