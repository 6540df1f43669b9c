// Finds the name that is most like another one.
#pragma once

#include <span>
#include <string_view>

namespace engine {

/// Returns the name that is most like the given one. The longest common beginning counts first, of at least three
/// letters, since names of one family begin alike; then the fewest letters that differ. Empty where none begins like
/// it.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> names);

}  // namespace engine
