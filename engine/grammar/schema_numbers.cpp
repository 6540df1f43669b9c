#include "engine/grammar/schema_numbers.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

namespace engine {

namespace {

constexpr std::int64_t kFarthest = 9'999'999'999'999'999;  // as far as the rule `integer` goes
constexpr const char* kPoint = "\".\" ";
constexpr std::int64_t kMostListed = 1000;  // numbers, or ends of numbers, that are written down one by one

std::string one_of(const std::vector<std::string>& choices)
{
    std::string all;
    for (const std::string& choice : choices)
        all += (all.empty() ? "" : " | ") + choice;
    return all;
}

// In all of these the last `places` digits stand behind a point.

/// Writes a number's digits without the point; at least one of them stands before it.
std::string digits_text(std::int64_t number, int places)
{
    const std::string digits = std::to_string(number);
    const std::size_t wanted = std::size_t(places) + 1;
    return std::string(wanted - std::min(wanted, digits.size()), '0') + digits;
}

/// Writes this many further digits, any ones, behind another digit.
std::string digits_of(int count, int places)
{
    const int behind = std::min(count, places);
    const auto some = [](int digits) { return digits == 0 ? "" : " [0-9]{" + std::to_string(digits) + "}"; };
    return some(count - behind) + (places > 0 && count >= places ? " \".\"" : "") + some(behind);
}

/// Writes the numbers between two of the same length, both given as digits.
std::string same_length(std::string_view least, std::string_view most, int places)
{
    if (least.empty())
        return "";
    const int rest = int(least.size()) - 1;
    const auto between = [&](char a, char b) {
        return std::string(rest + 1 == places ? kPoint : "") + "[" + a + "-" + b + "]";
    };
    if (least.front() == most.front())
        return between(least.front(), least.front()) +
               (rest ? " " + same_length(least.substr(1), most.substr(1), places) : "");
    const std::string nines(std::size_t(rest), '9'), zeros(std::size_t(rest), '0');
    std::vector<std::string> choices;
    char low = least.front(), high = most.front();
    if (least.substr(1) != zeros)
        choices.push_back(between(low, low) + " " + same_length(least.substr(1), nines, places)), ++low;
    std::string last;
    if (most.substr(1) != nines)
        last = between(high, high) + " " + same_length(zeros, most.substr(1), places), --high;
    if (low <= high)
        choices.push_back(between(low, high) + digits_of(rest, places));
    if (!last.empty())
        choices.push_back(last);
    return "(" + one_of(choices) + ")";
}

/// Writes the numbers from `least` to `most`, 0 <= least <= most. At least one digit stands before the point.
std::string whole_numbers(std::int64_t least, std::int64_t most, int places = 0)
{
    std::string all;
    const std::string end = digits_text(most, places);
    for (std::string from = digits_text(least, places);;) {
        const bool last = from.size() == end.size();
        all += (all.empty() ? "" : " | ") + same_length(from, last ? end : std::string(from.size(), '9'), places);
        if (last)
            return all;
        from = "1" + std::string(from.size(), '0');
    }
}

/// Returns the first and the last number of a range, counted in units that are so much larger.
std::pair<std::int64_t, std::int64_t> in_units_of(std::int64_t unit, NumberEnd least, NumberEnd most)
{
    return {least.units / unit + (least.units % unit != 0 || !least.included ? 1 : 0),
            most.units / unit - (most.units % unit == 0 && !most.included ? 1 : 0)};
}

NumberEnd far_end(std::optional<NumberEnd> most)
{
    return most.value_or(NumberEnd{kFarthest, true});
}

/// Writes numbers that are not negative. Those of `places` digits behind the point and fewer are written as ranges; the
/// others are such a number with more digits. All have so few digits that no reader takes two of them for the same
/// number.
std::string not_negative(NumberEnd least, std::optional<NumberEnd> most, int places)
{
    const std::int64_t far = far_end(most).units;
    std::vector<std::string> choices;
    std::int64_t unit = 1;
    for (int digits = places; digits >= 0; --digits, unit *= 10)
        if (const auto [from, to] = in_units_of(unit, least, far_end(most)); from <= to)
            choices.push_back(whole_numbers(from, to, digits));
    constexpr int kToldApart = 15;  // decimal digits of a double
    const int more = kToldApart - std::max(int(std::to_string(most ? far : least.units).size()), places + 1);
    if (more < 1)
        return one_of(choices);
    const auto followed = [&](std::int64_t from, std::int64_t to, const std::string& by) {
        choices.push_back("(" + whole_numbers(from, to, places) + ") " + (places == 0 ? kPoint : "") + by);
    };
    const std::string up_to_more = "{0," + std::to_string(more - 1) + "}";
    const std::int64_t first = least.units + (least.included ? 0 : 1);
    if (first < far)
        followed(first, far - 1, "[0-9] [0-9]" + up_to_more);
    if (!least.included && least.units < far)
        followed(least.units, least.units, "\"0\"" + up_to_more + " [1-9] [0-9]" + up_to_more);
    if (most && most->included && first <= far)
        followed(far, far, "\"0\" \"0\"" + up_to_more);
    return one_of(choices);
}

/// Writes the multiples of a step one by one; empty: none lies there.
std::string listed_multiples(std::int64_t least, std::int64_t most, std::int64_t step, int places)
{
    std::vector<std::string> choices;
    for (std::int64_t number = (least + step - 1) / step * step; number <= most; number += step) {
        std::string text = digits_text(number, places);
        if (places > 0)
            text.insert(text.size() - std::size_t(places), ".");
        choices.push_back('"' + text + '"');
    }
    return one_of(choices);
}

/// Writes multiples of a step that divides 10^count: whatever stands before them, their last `count` digits are some of
/// few.
std::string multiples_by_their_ends(std::int64_t least, std::int64_t most, std::int64_t step, int places, int count,
                                    std::int64_t power)
{
    std::vector<std::string> choices;
    if (const std::string short_ones = listed_multiples(least, std::min(most, power - 1), step, places);
        !short_ones.empty())
        choices.push_back(short_ones);
    // The ends that may follow each range of digits: near the two ends of the range of numbers, not all may.
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::string>> ends;
    for (std::int64_t end = 0; end < power && end <= most; end += step) {
        const std::int64_t from = least > end ? (least - end + power - 1) / power : 0, to = (most - end) / power;
        std::string digits = digits_text(end, count - 1);
        if (places > 0 && count >= places)
            digits.insert(std::size_t(count - places), ".");
        if (to > 0 && from <= to)
            ends[{std::max<std::int64_t>(from, 1), to}].push_back('"' + digits + '"');
    }
    for (const auto& [before, some] : ends)
        choices.push_back("(" + whole_numbers(before.first, before.second, std::max(places - count, 0)) + ") (" +
                          one_of(some) + ")");
    return one_of(choices);
}

/// Writes the multiples of a step. Nothing: there are too many to be written down.
std::optional<std::string> multiples(std::int64_t least, std::int64_t most, std::int64_t step, int places)
{
    if (step == 1)
        return whole_numbers(least, most, places);
    constexpr int kMostDigits = 15;
    std::int64_t power = 10;
    for (int count = 1; count <= kMostDigits && power / step <= kMostListed; ++count, power *= 10)
        if (power % step == 0)
            return multiples_by_their_ends(least, most, step, places, count, power);
    if (most / step - least / step > kMostListed)
        return std::nullopt;
    return listed_multiples(least, most, step, places);
}

/// Writes a range with its signs: `not_negative_ones` also writes the negative numbers, without their signs.
template <class NotNegativeOnes>
std::string with_both_signs(std::optional<NumberEnd> least, std::optional<NumberEnd> most,
                            NotNegativeOnes not_negative_ones)
{
    const auto mirrored = [](NumberEnd end) { return NumberEnd{-end.units, end.included}; };
    const NumberEnd zero{0, true}, beyond_zero{0, false};
    std::vector<std::string> choices;
    if (!least || least->units < 0) {
        const NumberEnd nearest = most && most->units < 0 ? mirrored(*most) : beyond_zero;
        std::optional<NumberEnd> farthest;
        if (least)
            farthest.emplace(mirrored(*least));
        if (const std::string negative = not_negative_ones(nearest, farthest); !negative.empty())
            choices.push_back("\"-\" (" + negative + ")");
    }
    if (!most || most->units >= 0)
        if (const std::string other = not_negative_ones(least && least->units >= 0 ? *least : zero, most);
            !other.empty())
            choices.push_back(other);
    return choices.empty() ? "" : "(" + one_of(choices) + ")";
}

}  // namespace

std::string gbnf_of_integers(std::optional<std::int64_t> least, std::optional<std::int64_t> most)
{
    if (!least && !most)
        return "integer";
    const std::int64_t from = least.value_or(std::min(-kFarthest, most.value_or(0)));
    const std::int64_t to = most.value_or(std::max(kFarthest, least.value_or(0)));
    std::vector<std::string> choices;
    if (from < 0)
        choices.push_back("\"-\" (" + whole_numbers(to < 0 ? -to : 1, -from) + ")");
    if (to >= 0)
        choices.push_back(whole_numbers(std::max<std::int64_t>(from, 0), to));
    return "(" + one_of(choices) + ")";
}

std::string gbnf_of_numbers(std::optional<NumberEnd> least, std::optional<NumberEnd> most, int places)
{
    return with_both_signs(least, most,
                           [&](NumberEnd from, std::optional<NumberEnd> to) { return not_negative(from, to, places); });
}

std::optional<std::string> gbnf_of_multiples(std::optional<NumberEnd> least, std::optional<NumberEnd> most, int places,
                                             NumberStep step)
{
    bool are_few = true;
    const auto not_negative_ones = [&](NumberEnd from, std::optional<NumberEnd> to) {
        std::vector<std::string> choices;
        std::int64_t unit = 1;
        for (int digits = places; digits >= 0; --digits, unit *= 10) {
            const auto [first, last] = in_units_of(unit, from, far_end(to));
            if (digits > step.most_places || first > last)
                continue;
            const auto some = multiples(first, last, step.units / std::gcd(step.units, unit), digits);
            are_few = are_few && some;
            if (some && !some->empty())
                choices.push_back(*some);
        }
        return one_of(choices);
    };
    const std::string all = with_both_signs(least, most, not_negative_ones);
    return are_few ? std::optional(all) : std::nullopt;
}

}  // namespace engine
