// Makes text and sizes from a file fit for a sentence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace engine {

/// Returns the text as valid UTF-8 without control or direction-changing characters (they become \n, \x1b, \u202e), cut
/// with "..." after about `limit` bytes.
std::string printable(std::string_view text, std::size_t limit = 80);

/// Writes a size: "5.4 MB" (1 MB is 1,000,000 bytes); a small number is exact: "1234 bytes".
std::string byte_size(std::uint64_t bytes);

}  // namespace engine
