// Holds what the operations of recurrent layers take besides their rows. A layer's state is one piece of memory where
// the layer computes: first the last inputs of its convolution, then a matrix for each head. Each operation reads it
// and writes it as it is after the rows.
#pragma once

#include "engine/model/state_space.h"
#include "engine/model/weights.h"

namespace engine {

/// The rows of a step that belong to one sequence.
struct RowRange {
    int first = 0;
    int count = -1;  // -1: all from there on

    /// Returns the same range with its count, in a batch of this many rows.
    RowRange of(int rows) const { return {first, count < 0 ? rows - first : count}; }
};

/// Gated delta net (arXiv 2412.06464).
struct DeltaNetParameters {
    StateSpace space;
    bool heads_in_runs = false;  // value head h has the keys of head h / (heads / groups); else of h % groups
    bool sigmoid_gate = false;   // of z; else silu
    float epsilon = 0.0f;        // of all its norms
    Vector conv_taps = nullptr;  // (width, channels), oldest first
    Vector dt_bias = nullptr, a = nullptr;  // (heads,)
    Vector norm = nullptr;                  // (head_length,)
    float* state = nullptr;                 // [(width - 1, channels) | (heads, state_size, head_length)]
    RowRange rows = {};
};

/// Mamba-2 (arXiv 2405.21060).
struct Mamba2Parameters {
    StateSpace space;
    float epsilon = 0.0f;
    Vector conv_taps = nullptr;                          // (width, channels), oldest first
    Vector conv_bias = nullptr;                          // (channels,) or null
    Vector dt_bias = nullptr, a = nullptr, d = nullptr;  // (heads,)
    Vector norm = nullptr;                               // (groups, inner / groups), or null: no norm
    float* state = nullptr;                              // as in DeltaNetParameters
    RowRange rows = {};
};

/// The short convolution of LFM2.
struct ShortConvolutionParameters {
    int width = 0, channels = 0;
    Vector taps = nullptr;   // (width, channels), oldest first
    float* state = nullptr;  // (width - 1, channels)
    RowRange rows = {};
};

}  // namespace engine
