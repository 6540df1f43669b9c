// Measures what this process had to fetch from a disk.
#pragma once

#include <cstdint>
#include <optional>

namespace engine {

/// Returns the bytes that were fetched since the process began, pages of mapped files included; on Windows without
/// them. Empty: this system does not say.
std::optional<std::int64_t> disk_read_bytes();

}  // namespace engine
