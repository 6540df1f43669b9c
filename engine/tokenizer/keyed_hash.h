// KeyedHash hashes texts so that nobody who makes a model's file can choose which of them collide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace engine {

/// SipHash-1-3 (Aumasson and Bernstein, 2012) under a key that is drawn when the program starts.
struct KeyedHash {
    using is_transparent = void;

    std::size_t operator()(std::string_view text) const;
    std::size_t operator()(std::uint64_t number) const;
};

}  // namespace engine
