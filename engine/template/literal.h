// Reads numbers and strings as a template spells them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace engine::jinja {

struct NumberLiteral {
    std::size_t bytes = 0;
    bool is_float = false;
    bool fits = true;  // false: an integer beyond 64 bits
    std::int64_t integer = 0;
    double real = 0;
};

/// Reads the number at the start of `text`, which starts with a digit. Right after a dot (`x.0.1`) it is never a float.
NumberLiteral read_number(std::string_view text, bool after_dot);

/// Resolves Python's backslash escapes; false where one is malformed.
bool unescape(std::string_view content, std::string& value);

}  // namespace engine::jinja
