// Writes the numbers that lie within bounds as GBNF.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace engine {

/// Writes the integers from `least` to `most`.
std::string gbnf_of_integers(std::optional<std::int64_t> least, std::optional<std::int64_t> most);

/// An end of a range of numbers, in units of the last decimal place that an end has.
struct NumberEnd {
    std::int64_t units = 0;  // of 16 digits at most
    bool included = true;
};
/// Writes the numbers in a range whose ends have this many digits behind the point, without an exponent. Empty: none
/// lies there.
std::string gbnf_of_numbers(std::optional<NumberEnd> least, std::optional<NumberEnd> most, int places);

/// What numbers are multiples of, in the same units, and how many digits behind the point they need at most.
struct NumberStep {
    std::int64_t units = 1;
    int most_places = 0;
};
/// Writes those of such a range that are multiples of the step, without an exponent; 0 as `places` and `most_places`:
/// the integers. An empty text: none lies there. Nothing: they are too many, and so are the kinds of their last digits.
std::optional<std::string> gbnf_of_multiples(std::optional<NumberEnd> least, std::optional<NumberEnd> most, int places,
                                             NumberStep step);

}  // namespace engine
