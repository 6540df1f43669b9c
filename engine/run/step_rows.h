// Divides the rows of a step among the turns that run, so that a long prompt does not hold up the answers beside it:
// pure arithmetic.
#pragma once

#include "engine/engine.h"

#include <span>
#include <vector>

namespace engine {

/// Rows of a step, at most, while any answer runs: between two tokens of an answer lies one step, so it waits no longer
/// than so many rows take. Without an answer, a step has as many rows as it holds.
inline constexpr int kRowsBesideAnswers = 64;
static_assert(kRowsBesideAnswers > kMostRowsTogether);

/// What a turn could have of a step.
struct RowsWanted {
    bool answers = false;  // its rows are an answer's newest token and drafted ones; else they are the prompt's
    int most = 1;          // one at least
};

/// Rows of each turn in the next step, which holds `most` in all. Each gets one, as far as there are so many, those in
/// front first; then answers get the same number each for what they draft, kMostRowsTogether with all of theirs; then
/// prompts the same number each. What one has no use for the others get.
std::vector<int> divide_rows(std::span<const RowsWanted> turns, int most);

}  // namespace engine
