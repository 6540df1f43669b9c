// Writes what JSON texts are made of as GBNF: literals, members' names, patterns, formats.
#pragma once

#include "engine/result.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Rules every schema's grammar may use: ws, string, char, number, integer, boolean, null, value, object, array.
extern const std::string_view kJsonRules;

/// Writes a GBNF literal of exactly this text.
std::string gbnf_literal(std::string_view text);
/// Writes the JSON string that a regular expression asks for. BadRequest names what of it is not supported.
Result<std::string> gbnf_of_pattern(std::string_view pattern);
/// A form of texts that a schema may ask for by its name.
struct StringFormat {
    std::string gbnf = {};          // without quotes; empty: there is no such format here
    int shortest = 0, longest = 0;  // characters
};
/// Returns the format of this name. `most`: the characters that there may be, where a format has no bound of its own;
/// -1: any number.
StringFormat format_named(std::string_view name, int most = -1);
/// Appends rules to `rules` that match the inside of any JSON string but these texts. The one to use is named `prefix`;
/// the names of the others begin with it and spell a text's beginning, so that few texts may take much: once `rules` is
/// longer than `most` bytes, the rest is left out.
void add_other_strings(std::vector<std::string> texts, const std::string& prefix, std::string& rules, std::size_t most);

}  // namespace engine
