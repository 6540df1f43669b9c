// Lists the marks that models put around what they think. Even where they are control tokens, they are part of the
// answer: without them nobody could tell thoughts and answer apart.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace engine {

/// Returns the marks that are one token each.
std::span<const std::string_view> single_token_marks();

/// Bytes [begin, end) of a text.
struct MarkRange {
    std::size_t begin = 0;
    std::size_t end = 0;
};

/// Returns the marks in an answer, which may be cut off behind any of them, in order. Marks of several tokens are found
/// whole: they open or close a thought or the answer, and can do nothing else, such as begin a user's turn.
std::vector<MarkRange> find_reasoning_marks(std::string_view answer);

}  // namespace engine
