// Token holds a token and where it came from.
#pragma once

#include <cstddef>
#include <cstdint>

namespace engine {

struct Token {
    int id = 0;
    std::uint32_t begin = 0;  // byte offset in the text at which this token starts

    bool operator==(const Token&) const = default;
};

/// Bytes [begin, end) of a text.
struct ByteRange {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool empty() const { return begin == end; }
};

}  // namespace engine
