// StateSpace describes a recurrent layer: the sizes of its heads and of the state that it keeps for each sequence.
#pragma once

namespace engine {

/// A layer that keeps a state of fixed size in place of keys and values: a causal convolution over the last tokens, and
/// one matrix a head. A short convolution (lfm2) has no matrices: `heads` is 1, `head_length` its channels.
struct StateSpace {
    int conv_width = 0;   // taps of the convolution; its history holds one token less
    int state_size = 0;   // length of keys and queries (Mamba-2: of B and C); 0: no matrices
    int groups = 0;       // key heads
    int heads = 0;        // value heads
    int head_length = 0;  // values of a head

    int inner() const { return heads * head_length; }
    int conv_channels() const { return inner() + 2 * groups * state_size; }
    int history_floats() const { return (conv_width - 1) * conv_channels(); }
    int matrix_floats() const { return heads * state_size * head_length; }
    /// Returns the floats of one layer and sequence: [history (conv_width - 1, conv_channels), matrices (heads,
    /// state_size, head_length)].
    int floats() const { return history_floats() + matrix_floats(); }
};

}  // namespace engine
