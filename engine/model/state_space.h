// StateSpace holds the numbers of a recurrent layer: heads, each with a state of a fixed size, and the convolution
// before them.
#pragma once

namespace engine {

/// Of a short convolution alone (lfm2): one head as long as a row, and neither groups nor a state of keys.
struct StateSpace {
    int conv_width = 0;   // taps; the history keeps one input less
    int state_size = 0;   // length of keys and queries
    int groups = 0;       // heads of keys and queries
    int heads = 0;        // heads of values
    int head_length = 0;  // of values

    int inner() const { return heads * head_length; }
    /// Values; then keys and queries.
    int conv_channels() const { return inner() + 2 * groups * state_size; }
    int history_floats() const { return (conv_width - 1) * conv_channels(); }
    int matrix_floats() const { return heads * state_size * head_length; }
};

}  // namespace engine
