// A token and where it came from.
#pragma once

#include <cstdint>

namespace engine {

struct Token {
    int id = 0;
    std::uint32_t begin = 0;  // byte offset in the text at which this token starts

    bool operator==(const Token&) const = default;
};

}  // namespace engine
