// Cutting and replacing text the way Python's str does. All of it is linear, and pays for its steps.
#pragma once

#include "engine/template/heap.h"

#include <string_view>
#include <vector>

namespace engine::jinja {

// At most `most` cuts; any number where it is negative.
std::vector<std::string_view> split_text(Heap& heap, std::string_view text, std::string_view separator,
                                         std::int64_t most);
std::vector<std::string_view> rsplit_text(Heap& heap, std::string_view text, std::string_view separator,
                                          std::int64_t most);
std::vector<std::string_view> split_space(Heap& heap, std::string_view text, std::int64_t most);
std::vector<std::string_view> rsplit_space(Heap& heap, std::string_view text, std::int64_t most);
std::vector<std::string_view> split_lines(Heap& heap, std::string_view text, bool keep_ends = false);

std::string replaced(Heap& heap, std::string_view text, std::string_view old, std::string_view by, std::int64_t most);

/// Without the characters of a set at its ends.
std::string_view strip_characters(Heap& heap, std::string_view text, std::string_view set, bool left, bool right);

}  // namespace engine::jinja
