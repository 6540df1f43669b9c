// KvSequence holds what a sequence of tokens owns of the cache: its tokens, the pages of their keys and values, and its
// recurrent state with the checkpoints to which it can go back.
#pragma once

#include "engine/kv/page_pool.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

namespace engine {

class ExpertCounts;

/// A state of all recurrent layers, in RecurrentStates.
using StateId = std::int32_t;
constexpr StateId kNoState = -1;

/// The state after the first `tokens` tokens.
struct StateCheckpoint {
    int tokens = 0;
    StateId state = kNoState;
};

/// The tokens of one sequence and the pages that hold their KV. Tokens [0, ids.size()) have been computed.
struct KvSequence {
    std::vector<PageId> pages;
    std::vector<int> ids;
    std::vector<int> lost;        // the next tokens, if their KV was lost: they are computed again before any other
    std::uint64_t last_used = 0;  // higher is later
    StateId state = kNoState;     // after all its tokens; none: nothing is computed yet, or no layer is recurrent
    StateId before = kNoState;    // memory for the state before drafted rows; none: no step had any
    std::vector<StateCheckpoint> checkpoints;  // of fewer tokens first
    int shared_tokens = 0;                     // other conversations begin with them: their checkpoint goes last
    int length() const { return int(ids.size()); }
};

/// Rows of a step that are one sequence's: the next tokens of it, which have pages.
struct RowGroup {
    KvSequence* sequence = nullptr;
    std::span<const int> tokens = {};
    int first = 0;                   // position of the first of them
    int row = 0;                     // of the step, where they begin
    int wanted = 0;                  // logits will be asked for this many rows at its end
    std::stop_token stop = {};       // asked for when nobody wants the rows any more
    bool to_its_end = false;         // never stopped in a step: what half a step spoils costs more than its other half
    ExpertCounts* chosen = nullptr;  // counts the experts that the tokens choose; may be null
    bool drafted = false;            // all but the first may be taken back
    int drafted_row = -1;            // of the step's drafted rows, where they begin; -1: their inputs are not kept
    bool again = false;              // the tokens are the first lost ones; else all lost ones are computed before them

    int count() const { return int(tokens.size()); }
};

/// Says whether no row of the step is wanted any more. Once true, it stays true to the end; so below.
inline bool unwanted(std::span<const RowGroup> groups)
{
    return std::ranges::all_of(groups, [](const RowGroup& group) { return group.stop.stop_requested(); });
}

/// Says whether the step, which is being computed, is to stop before its end.
inline bool given_up(std::span<const RowGroup> groups)
{
    return unwanted(groups) && std::ranges::none_of(groups, &RowGroup::to_its_end);
}

}  // namespace engine
