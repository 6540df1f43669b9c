// Writes the numbers that lie within bounds as GBNF.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace engine {

/// The integers from `least` to `most`.
std::string gbnf_of_integers(std::optional<std::int64_t> least, std::optional<std::int64_t> most);

/// An end of a range of numbers, in units of the last decimal place that an end has.
struct NumberEnd {
    std::int64_t units = 0;  // of 16 digits at most
    bool included = true;
};
/// The numbers in a range whose ends have so many digits behind the point, written without an exponent. Empty: none
/// lies there.
std::string gbnf_of_numbers(std::optional<NumberEnd> least, std::optional<NumberEnd> most, int places);

}  // namespace engine
