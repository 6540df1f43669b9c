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

/// A GBNF literal of exactly this text.
std::string gbnf_literal(std::string_view text);
/// The JSON string that a regular expression asks for. BadRequest names what of it is not supported.
Result<std::string> gbnf_of_pattern(std::string_view pattern);
/// A form of texts that a schema may ask for by its name.
struct StringFormat {
    std::string gbnf = {};          // without quotes; empty: there is no such format here
    int shortest = 0, longest = 0;  // characters
};
/// `most`: the characters that there may be, where a format has none of its own; -1: any number.
StringFormat format_named(std::string_view name, int most = -1);
/// Names of rules, each of which is any JSON string's inside but these texts; the rules go to the end of `rules`, and
/// their names begin with `prefix`. The first is the one to use. Each name has all letters before it, so that few texts
/// may take much: once `rules` is longer than `most` bytes, the rest is left out.
void add_other_strings(std::vector<std::string> texts, const std::string& prefix, std::string& rules, std::size_t most);

}  // namespace engine
