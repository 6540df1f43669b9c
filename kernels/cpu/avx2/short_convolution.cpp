// Short convolutions, eight channels at a time: the history is moved on by one row with each token.
#include "kernels/cpu/avx2/lanes.h"
#include "kernels/cpu/avx2/slots.h"

namespace kernels::avx2 {

void short_convolution(const Convolution& c)
{
    const int rows = c.width - 1;  // of the history
    for (int t = 0; t < c.tokens; ++t) {
        float* const x = c.x + std::size_t(t) * c.x_stride;
        for_lanes(c.channels, [&](int i, __m256i lanes) {
            const __m256 newest = load(x + i, lanes);
            const float* taps = c.taps + i;
            float* past = c.history + i;
            __m256 y = c.bias ? load(c.bias + i, lanes) : _mm256_setzero_ps();
            if (rows > 0) {
                __m256 h = load(past, lanes);
                for (int j = 0; j < rows; ++j) {
                    y = _mm256_fmadd_ps(load(taps, lanes), h, y);
                    h = j + 1 < rows ? load(past + c.history_stride, lanes) : newest;
                    _mm256_maskstore_ps(past, lanes, h);
                    taps += c.tap_stride;
                    past += c.history_stride;
                }
            }
            y = _mm256_fmadd_ps(load(taps, lanes), newest, y);
            _mm256_maskstore_ps(x + i, lanes, c.silu ? times_sigmoid(y, y) : y);
        });
    }
}

}  // namespace kernels::avx2
