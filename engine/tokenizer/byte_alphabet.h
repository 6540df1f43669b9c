// Provides GPT-2's alphabet: every byte is written as one printable character, so that a vocabulary of texts can hold
// any bytes.
#pragma once

#include <string>
#include <string_view>

namespace engine {

/// Returns the character that stands for a byte, as UTF-8: itself for printable Latin-1, else one from U+0100 on.
std::string_view byte_letter(unsigned char byte);

/// Returns the bytes that a text in the alphabet stands for. What is not of the alphabet stays as it is.
std::string bytes_of_letters(std::string_view letters);

}  // namespace engine
