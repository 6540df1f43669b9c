#include "engine/grammar/schema_scalars.h"

#include "engine/grammar/grammar.h"
#include "engine/grammar/schema_numbers.h"
#include "engine/grammar/schema_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

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

namespace {

std::string text_at(const Schema& s, const char* word)
{
    return s.contains(word) && s[word].is_string() ? s[word].get<std::string>() : std::string();
}

/// Says whether a pattern of the whole text stands beside a format: zod writes each format once more so.
bool has_pattern_of_format(const Schema& s)
{
    const std::string pattern = text_at(s, "pattern");
    return s.contains("format") && pattern.starts_with('^') && pattern.ends_with('$');
}

bool fits(const StringFormat& format, int least, int most)
{
    return !format.gbnf.empty() && least <= format.shortest && (most < 0 || format.longest <= most);
}

std::string gbnf_in_quotes(const std::string& inside)
{
    return "\"\\\"\" " + inside + " \"\\\"\"";
}

}  // namespace

Result<std::string> gbnf_of_string(const Schema& s, SchemaRigour rigour)
{
    const auto least = schema_count(s, "minLength", 0);
    const auto most = schema_count(s, "maxLength", -1);
    if (!least || !most)
        return tl::unexpected((least ? most : least).error());
    if (*most >= 0 && *most < *least)
        return refuse_schema("the schema's 'maxLength' is less than its 'minLength'");
    const bool strict = rigour == SchemaRigour::Strict;
    const bool bounded = s.contains("minLength") || s.contains("maxLength");
    const auto not_together = [] {
        return refuse_schema("the schema's 'pattern', 'format' and bounds of length are not supported together");
    };
    std::optional<Error> unheld;
    if (s.contains("pattern")) {
        if (!s["pattern"].is_string())
            return refuse_schema("the schema has a 'pattern' that is no string");
        const bool alone = !s.contains("format") && !bounded;
        if (strict && !alone && !has_pattern_of_format(s))
            return not_together();
        auto text = gbnf_of_pattern(text_at(s, "pattern"));
        if (text && strict && bounded)
            return not_together();
        if (text || alone)
            return text;
        unheld = text.error();
    }
    if (s.contains("format")) {
        const std::string name = text_at(s, "format");
        const StringFormat format = format_named(name, strict ? *most : -1);
        const bool known = !format.gbnf.empty();
        if (known && (fits(format, *least, *most) || !strict))
            return gbnf_in_quotes(format.gbnf);
        if (strict && known)
            return not_together();
        if (strict && !unheld)
            return refuse_schema("the schema's format '" + name.substr(0, 100) + "' is not supported");
    }
    if (unheld && (strict || !bounded))
        return tl::unexpected(*unheld);
    return bounded ? "\"\\\"\" char" + gbnf_of_repeats(*least, *most) + " \"\\\"\"" : std::string("string");
}

std::string gbnf_of_bare_format(const Schema& s)
{
    if (!s.is_object() || text_at(s, "type") != "string" || (s.contains("pattern") && !has_pattern_of_format(s)))
        return {};
    const auto least = schema_count(s, "minLength", 0);
    const auto most = schema_count(s, "maxLength", -1);
    if (!least || !most)
        return {};
    const StringFormat format = format_named(text_at(s, "format"), *most);
    return fits(format, *least, *most) ? format.gbnf : std::string();
}

/// 2^53: below that a double has every integer, and none that stands for two.
static constexpr double kFar = 9'007'199'254'740'992;

/// `step`: what has to be added to an exclusive bound.
static Result<std::optional<std::int64_t>> bound(const Schema& s, const char* word, const char* beyond, int step)
{
    std::optional<std::int64_t> bound;
    for (const char* one : {word, beyond}) {
        if (!s.contains(one))
            continue;
        const Schema& given = s[one];
        const double value = given.is_number() ? given.get<double>() : kFar;
        if (std::abs(value) >= kFar || value != double(std::int64_t(value)))
            return refuse_schema(std::string("the schema's '") + one + "' must be a whole number below 2^53");
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

namespace {

constexpr std::array<double, 7> kTens = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
constexpr const char* kBoundDigits = " must be a number of at most 15 digits, up to 6 of them behind the point";

/// A bound of numbers, and how many digits it has behind the point.
struct Bound {
    double value = 0;
    bool included = true;
    int places = 0;

    /// Says whether it can be counted in units of 10^-p.
    bool fits(int p) const { return p < int(kTens.size()) && std::abs(value) * kTens[std::size_t(p)] < kFar; }
    NumberEnd in_units(int p) const { return {std::llround(value * kTens[std::size_t(p)]), included}; }
    bool is_exact() const
    {
        return fits(places) && double(in_units(places).units) / kTens[std::size_t(places)] == value;
    }
};

/// Nothing: there is none. Of two the one that asks for more.
Result<std::optional<Bound>> number_bound(const Schema& s, const char* word, const char* beyond)
{
    std::optional<Bound> bound;
    for (const char* one : {word, beyond}) {
        if (!s.contains(one))
            continue;
        Bound found{s[one].is_number() ? s[one].get<double>() : std::nan(""), one == word};
        while (!found.is_exact())
            if (!found.fits(++found.places))
                return refuse_schema(std::string("the schema's '") + one + "'" + kBoundDigits);
        const bool is_least = std::string_view(word) == "minimum";
        if (!bound || (is_least ? found.value >= bound->value : found.value <= bound->value))
            bound = found;
    }
    return bound;
}

}  // namespace

Result<std::string> gbnf_of_number(const Schema& s)
{
    const auto least = number_bound(s, "minimum", "exclusiveMinimum");
    const auto most = number_bound(s, "maximum", "exclusiveMaximum");
    if (!least || !most)
        return tl::unexpected((least ? most : least).error());
    if (!*least && !*most)
        return std::string("number");
    const int places = std::max(*least ? (*least)->places : 0, *most ? (*most)->places : 0);
    for (const auto& bound : {*least, *most})
        if (bound && !bound->fits(places))
            return refuse_schema(std::string("each bound of a number in the schema") + kBoundDigits);
    const auto end = [&](const std::optional<Bound>& bound) {
        return bound ? std::optional(bound->in_units(places)) : std::nullopt;
    };
    std::string text = gbnf_of_numbers(end(*least), end(*most), places);
    if (text.empty())
        return refuse_schema("no number lies between the schema's 'minimum' and 'maximum'");
    return text;
}

}  // namespace engine
