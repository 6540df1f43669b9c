// Tells about characters what Python's str does, on UTF-8. A byte that is not part of valid UTF-8 counts as one
// character.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace engine::jinja {
class Conversion;
}

namespace engine::jinja::unicode {

std::int64_t length(std::string_view text);  // in code points

/// Returns the code point at byte `at`, which then moves past it.
char32_t next(std::string_view text, std::size_t& at);
/// Returns the code point that ends at byte `end`, which then moves to its first byte.
char32_t previous(std::string_view text, std::size_t& end);
void append(std::string& text, char32_t c);

/// Returns the byte at which code point number `index` starts; the end of the text if it has fewer.
std::size_t byte_of(std::string_view text, std::int64_t index);

bool is_space(char32_t c);
bool is_alpha(char32_t c);
bool is_decimal(char32_t c);  // Nd
bool is_digit(char32_t c);
bool is_numeric(char32_t c);
bool is_printable(char32_t c);
bool is_upper(char32_t c);
bool is_lower(char32_t c);
bool is_title(char32_t c);

std::string upper(std::string_view text, Conversion& conversion);
std::string lower(std::string_view text, Conversion& conversion);
/// Makes the first character a title, and the rest lower case.
std::string capitalize(std::string_view text, Conversion& conversion);
/// Does Python's str.title(): a word is a run of letters that have case.
std::string title(std::string_view text, Conversion& conversion);
/// Makes titles of words, each of which begins behind a character that separates.
std::string title_of_words(std::string_view text, bool (*separates)(char32_t), Conversion& conversion);
std::string swapcase(std::string_view text, Conversion& conversion);

std::string_view strip_left(std::string_view text);
std::string_view strip_right(std::string_view text);

}  // namespace engine::jinja::unicode
