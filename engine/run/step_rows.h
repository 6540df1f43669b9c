// Divides the rows of a step among the turns that run, so that a long prompt does not hold up the answers beside it:
// pure arithmetic.
#pragma once

#include "engine/engine.h"

#include <span>
#include <vector>

namespace engine {

/// The most rows of a step while any answer runs: between two tokens of an answer lies one step, so it waits no longer
/// than so many rows take. Without an answer, a step has as many rows as it holds.
inline constexpr int kRowsBesideAnswers = 64;
static_assert(kRowsBesideAnswers > kMostRowsTogether);

/// Says what rows a turn can use in a step.
struct RowsWanted {
    bool answers = false;  // its rows are an answer's newest token and drafted ones; else they are the prompt's
    int most = 1;          // one at least
};

/// Divides the rows of the next step, which holds `most` in all, among the turns. Each turn gets one row, as far as
/// there are so many, those in front first. Then each answer gets the same number for its drafts, at most
/// kMostRowsTogether with all of its own, and then each prompt the same number. Rows that one turn cannot use go to the
/// others.
std::vector<int> divide_rows(std::span<const RowsWanted> turns, int most);

}  // namespace engine
