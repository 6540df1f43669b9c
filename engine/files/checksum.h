// Tells whether bytes from a disk are still those that were written. It protects against accidents, not against
// somebody who changes the bytes and the checksum together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace engine {

/// Returns 64 bits over the bytes and their number. A change within one run of 8 bytes, counted from the first, is
/// always found, others are missed once in some 2^64 times. With another seed it is another sum. About as fast as
/// memory.
std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed = 0);

}  // namespace engine
