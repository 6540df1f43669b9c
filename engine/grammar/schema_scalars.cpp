#include "engine/grammar/schema_scalars.h"

#include "engine/grammar/grammar.h"
#include "engine/grammar/schema_numbers.h"
#include "engine/grammar/schema_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

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

namespace {

/// 2^53: a double has every integer below it exactly.
constexpr double kFar = 9'007'199'254'740'992;
/// A bound so far from zero excludes no number that is written, since these have 16 digits before the point at most;
/// such bounds are 2^63 - 1, or the largest double.
constexpr double kBeyondAll = 1e17;
constexpr std::array<double, 7> kTens = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
constexpr std::array kBounds = {"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"};
constexpr const char* kBoundDigits = " must be a number of at most 15 digits, up to 6 of them behind the point";

/// Says whether a bound excludes nothing. `word`: minimum, or maximum.
bool is_beyond_all(double value, std::string_view word)
{
    return word == "minimum" ? value <= -kBeyondAll : value >= kBeyondAll;
}

double number_at(const Schema& s, const char* word)
{
    return s[word].is_number() ? s[word].get<double>() : std::nan("");
}

/// Reads the bound `word`, and `beyond`, which is exclusive. `step`: what has to be added to an exclusive bound.
Result<std::optional<std::int64_t>> integer_bound(const Schema& s, const char* word, const char* beyond, int step)
{
    std::optional<std::int64_t> bound;
    for (const char* one : {word, beyond}) {
        if (!s.contains(one) || is_beyond_all(number_at(s, one), word))
            continue;
        const double value = number_at(s, one);
        if (!(std::abs(value) < kFar) || value != double(std::int64_t(value)))
            return refuse_schema(std::string("the schema's '") + one + "' must be a whole number below 2^53");
        const std::int64_t whole = std::int64_t(value) + (one == beyond ? step : 0);
        bound = !bound ? whole : step > 0 ? std::max(*bound, whole) : std::min(*bound, whole);
    }
    return bound;
}

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
    /// Counts the places. False: there are too many.
    bool count_places()
    {
        while (!is_exact())
            if (!fits(++places))
                return false;
        return true;
    }
};

/// Reads a bound; of two, the one that asks for more. Nothing: there is none.
Result<std::optional<Bound>> number_bound(const Schema& s, const char* word, const char* beyond)
{
    std::optional<Bound> bound;
    for (const char* one : {word, beyond}) {
        if (!s.contains(one) || is_beyond_all(number_at(s, one), word))
            continue;
        Bound found{number_at(s, one), one == word};
        if (!found.count_places())
            return refuse_schema(std::string("the schema's '") + one + "'" + kBoundDigits);
        const bool is_least = std::string_view(word) == "minimum";
        if (!bound || (is_least ? found.value >= bound->value : found.value <= bound->value))
            bound = found;
    }
    return bound;
}

/// Reads 'multipleOf'. Nothing: it is missing, or has too many digits and may be left unheld.
Result<std::optional<Bound>> number_step(const Schema& s, SchemaRigour rigour)
{
    if (!s.contains("multipleOf"))
        return std::optional<Bound>();
    Bound step{number_at(s, "multipleOf")};
    const bool is_step = step.value > 0 && std::isfinite(step.value);
    if (is_step && step.count_places())
        return std::optional(step);
    if (is_step && rigour == SchemaRigour::Lenient)
        return std::optional<Bound>();
    return refuse_schema(
        "the schema's 'multipleOf' must be a number above zero with at most 6 digits behind the point");
}

/// Writes the rule of the multiples in a range. Nothing: there are too many, and 'multipleOf' may be left unheld.
Result<std::optional<std::string>> multiples_in(std::optional<NumberEnd> least, std::optional<NumberEnd> most,
                                                int places, NumberStep step, SchemaRigour rigour)
{
    auto multiples = gbnf_of_multiples(least, most, places, step);
    if (multiples && multiples->empty())
        return refuse_schema("no multiple of the schema's 'multipleOf' lies between its bounds");
    if (!multiples && rigour == SchemaRigour::Strict)
        return refuse_schema("the schema's 'multipleOf' is only supported where at most 1000 such numbers lie between "
                             "its bounds, or where it goes into a power of ten");
    return multiples;
}

}  // namespace

Result<std::string> gbnf_of_integer(const Schema& s, SchemaRigour rigour)
{
    const auto least = integer_bound(s, "minimum", "exclusiveMinimum", 1);
    const auto most = integer_bound(s, "maximum", "exclusiveMaximum", -1);
    const auto step = number_step(s, rigour);
    if (!least || !most)
        return tl::unexpected((least ? most : least).error());
    if (!step)
        return tl::unexpected(step.error());
    if (*least && *most && **most < **least)
        return refuse_schema("no integer lies between the schema's 'minimum' and 'maximum'");
    if (*step) {
        const std::int64_t units = (*step)->in_units((*step)->places).units;
        const std::int64_t whole = units / std::gcd(units, std::int64_t(kTens[std::size_t((*step)->places)]));
        const auto end = [](std::optional<std::int64_t> bound) {
            return bound ? std::optional(NumberEnd{*bound, true}) : std::nullopt;
        };
        auto multiples = multiples_in(end(*least), end(*most), 0, {whole, 0}, rigour);
        if (!multiples)
            return tl::unexpected(multiples.error());
        if (*multiples)
            return std::move(**multiples);
    }
    return gbnf_of_integers(*least, *most);
}

Result<std::string> gbnf_of_number(const Schema& s, SchemaRigour rigour)
{
    const auto least = number_bound(s, "minimum", "exclusiveMinimum");
    const auto most = number_bound(s, "maximum", "exclusiveMaximum");
    const auto step = number_step(s, rigour);
    for (const auto* one : {&least, &most, &step})
        if (!*one)
            return tl::unexpected(one->error());
    int places = 0;
    for (const auto* one : {&least, &most, &step})
        places = std::max(places, **one ? (**one)->places : 0);
    for (const auto* one : {&least, &most, &step})
        if (**one && !(**one)->fits(places))
            return refuse_schema(std::string("each bound of a number in the schema") + kBoundDigits);
    const auto end = [&](const std::optional<Bound>& bound) {
        return bound ? std::optional(bound->in_units(places)) : std::nullopt;
    };
    if (*step) {
        const NumberStep units{(*step)->in_units(places).units, (*step)->places};
        auto multiples = multiples_in(end(*least), end(*most), places, units, rigour);
        if (!multiples)
            return tl::unexpected(multiples.error());
        if (*multiples)
            return std::move(**multiples);
    }
    // Bounds cannot be held with an exponent, by which a number may be larger than any of them.
    if (std::ranges::none_of(kBounds, [&](const char* word) { return s.contains(word); }))
        return std::string("number");
    std::string text = gbnf_of_numbers(end(*least), end(*most), places);
    if (text.empty())
        return refuse_schema("no number lies between the schema's 'minimum' and 'maximum'");
    return text;
}

}  // namespace engine
