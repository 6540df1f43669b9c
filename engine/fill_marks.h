// FillMarks holds the tokens around a gap in a text that a model is to fill (fill-in-the-middle).
#pragma once

namespace engine {

/// Ids of tokens; -1: the model has no such token.
struct FillMarks {
    int prefix = -1;      // before the text in front of the gap
    int suffix = -1;      // before the text behind it
    int middle = -1;      // behind both, and before what fills the gap; -1: the text behind the gap comes first
    int file = -1;        // before the name of each file, where there are several
    int repository = -1;  // before the name of what these files belong to

    /// Says whether the model fills gaps.
    bool are_there() const { return prefix >= 0 && suffix >= 0; }
};

}  // namespace engine
