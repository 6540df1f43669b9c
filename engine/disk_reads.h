// Measures what this process had to fetch from a disk.
#pragma once

#include <cstdint>
#include <optional>

namespace engine {

/// Bytes since it began, pages of mapped files included. Empty: this system does not say; Windows leaves such pages
/// out.
std::optional<std::int64_t> disk_read_bytes();

}  // namespace engine
