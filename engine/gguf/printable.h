// Text from a file, made fit for a sentence.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace engine {

/// The text as valid UTF-8 without control or direction-changing characters (they become \n, \x1b, \u202e), cut with
/// "..." after about `limit` bytes.
std::string printable(std::string_view text, std::size_t limit = 80);

}  // namespace engine
