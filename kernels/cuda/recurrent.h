// Declares what the kernels of recurrent layers and their launchers agree on.
#pragma once

namespace kernels::cuda {

constexpr int kMostTaps = 4;         // of a short convolution
constexpr int kMostNormed = 256;     // values of a head that is normed after it
constexpr int kMostStateKeys = 256;  // of linear attention's state

struct ConvolutionArguments {
    int channels;
    int width;          // taps
    const float* taps;  // (width, channels), oldest first
    const float* bias;  // (channels,) or null
    float* history;     // (width - 1, channels), oldest first
    int rows;
};

/// The first channels of a convolution that are heads, each to be normed to a length by itself.
struct NormedHeads {
    int heads = 0;  // the first half of them is divided by sqrt(length) as well: queries
    int length = 0;
    float epsilon = 0.0f;
};

/// Says where the gates of linear attention come from.
enum class StateGates {
    DeltaRule,  // beta = sigmoid(gate), decay = exp(a * softplus(step + dt_bias))
    Steps,      // without the delta rule: beta = softplus(step + dt_bias), decay = exp(a * beta)
};

struct LinearAttentionArguments {
    int keys, values;      // of a head
    int heads, key_heads;  // those of values, and of keys
    bool keys_in_runs;     // head h has key head h / (heads / key_heads), else h % key_heads
    StateGates gates;
    int rows;
    int stride;                // floats between the rows of all that follow
    const float *q, *k;        // (rows, key_heads, keys)
    const float* v;            // (rows, heads, values)
    const float *gate, *step;  // (rows, heads); gate: of the delta rule only
    const float *dt_bias, *a;  // (heads,)
    float* state;              // (heads, keys, values)
    float* out;                // (rows, heads, values)
    int out_stride;
};

struct GateAndNormArguments {
    int heads, length;  // of a head
    int groups;         // each is normed by itself
    float* y;           // (rows, heads, length)
    int y_stride;
    const float *x, *z;   // the same
    int stride;           // floats between rows of x and z
    const float* d;       // (heads,)
    const float* weight;  // (heads, length), or null: no norm
    float epsilon;
};

}  // namespace kernels::cuda
