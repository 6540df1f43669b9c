// Writes what JSON texts are made of as GBNF: literals, members' names, numbers within bounds, patterns, formats.
#pragma once

#include "engine/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Rules every schema's grammar may use: ws, string, char, number, integer, boolean, null, value, object, array.
extern const std::string_view kJsonRules;

/// A GBNF literal of exactly this text.
std::string gbnf_literal(std::string_view text);
/// The integers from `least` to `most`.
std::string gbnf_of_integers(std::optional<std::int64_t> least, std::optional<std::int64_t> most);
/// The JSON string that a regular expression asks for. BadRequest names what of it is not supported.
Result<std::string> gbnf_of_pattern(std::string_view pattern);
/// Of date, time, date-time and uuid; empty: it is none of these.
std::string gbnf_of_format(std::string_view format);
/// Names of rules, each of which is any JSON string's inside but these texts; the rules go to the end of `rules`, and
/// their names begin with `prefix`. The first is the one to use. Each name has all letters before it, so that few texts
/// may take much: once `rules` is longer than `most` bytes, the rest is left out.
void add_other_strings(std::vector<std::string> texts, const std::string& prefix, std::string& rules, std::size_t most);

}  // namespace engine
