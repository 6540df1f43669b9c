#include "engine/grammar/schema_scalars.h"

#include "engine/grammar/grammar.h"
#include "engine/grammar/schema_text.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

namespace engine {

tl::unexpected<Error> refuse_schema(std::string what)
{
    return fail(Error::Code::BadRequest, std::move(what));
}

std::string gbnf_of_repeats(int least, int most)
{
    return "{" + std::to_string(least) + "," + (most < 0 ? "" : std::to_string(most)) + "}";
}

Result<int> schema_count(const Schema& s, const char* word, int otherwise)
{
    if (!s.contains(word))
        return otherwise;
    if (!s[word].is_number_integer() || s[word] < 0 || s[word] > Grammar::kMostRepeats)
        return refuse_schema(std::string("the schema's '") + word + "' must be a number from 0 to " +
                             std::to_string(Grammar::kMostRepeats));
    return s[word].get<int>();
}

Result<std::string> gbnf_of_string(const Schema& s)
{
    const auto least = schema_count(s, "minLength", 0);
    const auto most = schema_count(s, "maxLength", -1);
    if (!least || !most)
        return tl::unexpected((least ? most : least).error());
    if (*most >= 0 && *most < *least)
        return refuse_schema("the schema's 'maxLength' is less than its 'minLength'");
    const bool bounded = s.contains("minLength") || s.contains("maxLength");
    if (s.contains("pattern") + s.contains("format") + bounded > 1)
        return refuse_schema("the schema's 'pattern', 'format' and bounds of length are not supported together");
    if (s.contains("pattern")) {
        if (!s["pattern"].is_string())
            return refuse_schema("the schema has a 'pattern' that is no string");
        return gbnf_of_pattern(s["pattern"].get<std::string>());
    }
    if (s.contains("format")) {
        const std::string format = s["format"].is_string() ? s["format"].get<std::string>() : "";
        std::string text = gbnf_of_format(format);
        if (text.empty())
            return refuse_schema("the schema's format '" + format.substr(0, 100) + "' is not supported");
        return text;
    }
    return bounded ? "\"\\\"\" char" + gbnf_of_repeats(*least, *most) + " \"\\\"\"" : std::string("string");
}

/// `step`: what has to be added to an exclusive bound.
static Result<std::optional<std::int64_t>> bound(const Schema& s, const char* word, const char* beyond, int step)
{
    std::optional<std::int64_t> bound;
    for (const char* one : {word, beyond}) {
        if (!s.contains(one))
            continue;
        constexpr double kFar = 9e15;
        const Schema& given = s[one];
        const double value = given.is_number() ? given.get<double>() : kFar + 1;
        if (std::abs(value) > kFar || value != double(std::int64_t(value)))
            return refuse_schema(std::string("the schema's '") + one + "' must be a whole number of at most 15 digits");
        const std::int64_t whole = std::int64_t(value) + (one == beyond ? step : 0);
        bound = !bound ? whole : step > 0 ? std::max(*bound, whole) : std::min(*bound, whole);
    }
    return bound;
}

Result<std::string> gbnf_of_integer(const Schema& s)
{
    const auto least = bound(s, "minimum", "exclusiveMinimum", 1);
    const auto most = bound(s, "maximum", "exclusiveMaximum", -1);
    if (!least || !most)
        return tl::unexpected((least ? most : least).error());
    if (*least && *most && **most < **least)
        return refuse_schema("no integer lies between the schema's 'minimum' and 'maximum'");
    return gbnf_of_integers(*least, *most);
}

}  // namespace engine
