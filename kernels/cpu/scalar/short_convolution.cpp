// Reference short convolution: the history is moved on by one row with each token.
#include "kernels/cpu/scalar/scalar.h"

#include <cmath>

namespace kernels::scalar {

void short_convolution(const Convolution& c)
{
    const int rows = c.width - 1;  // of the history
    for (int t = 0; t < c.tokens; ++t) {
        float* x = c.x + std::size_t(t) * c.x_stride;
        for (int i = 0; i < c.channels; ++i) {
            float y = c.bias ? c.bias[i] : 0.0f;
            for (int j = 0; j < rows; ++j) {
                float& past = c.history[std::size_t(j) * c.history_stride + std::size_t(i)];
                y += c.taps[std::size_t(j) * c.tap_stride + std::size_t(i)] * past;
                past = j + 1 < rows ? c.history[std::size_t(j + 1) * c.history_stride + std::size_t(i)] : x[i];
            }
            y += c.taps[std::size_t(rows) * c.tap_stride + std::size_t(i)] * x[i];
            x[i] = c.silu ? y / (1.0f + std::exp(-y)) : y;
        }
    }
}

}  // namespace kernels::scalar
