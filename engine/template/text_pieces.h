// Searches, cuts and replaces text the way Python's str does. All of it counts its steps: where texts were chosen to
// make a search quadratic, the square is counted.
#pragma once

#include "engine/template/heap.h"

#include <string_view>
#include <vector>

namespace engine::jinja {

/// Finds where `wanted` stands in the text, at or behind `from`; npos where it does not.
std::size_t find_text(Heap& heap, std::string_view text, std::string_view wanted, std::size_t from = 0);
/// Finds the last place where `wanted` stands; npos where it does not.
std::size_t rfind_text(Heap& heap, std::string_view text, std::string_view wanted);

// These cut at most `most` times, any number of times where it is negative.
std::vector<std::string_view> split_text(Heap& heap, std::string_view text, std::string_view separator,
                                         std::int64_t most);
std::vector<std::string_view> rsplit_text(Heap& heap, std::string_view text, std::string_view separator,
                                          std::int64_t most);
std::vector<std::string_view> split_space(Heap& heap, std::string_view text, std::int64_t most);
std::vector<std::string_view> rsplit_space(Heap& heap, std::string_view text, std::int64_t most);
std::vector<std::string_view> split_lines(Heap& heap, std::string_view text, bool keep_ends = false);

TracedText replaced(Heap& heap, const TracedText& text, std::string_view old, const TracedText& by, std::int64_t most);

/// Returns the text without the characters of a set at its ends.
std::string_view strip_characters(Heap& heap, std::string_view text, std::string_view set, bool left, bool right);

}  // namespace engine::jinja
