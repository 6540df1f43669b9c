// Short convolutions, 16 channels at a time: the history is moved on by one row with each token.
#include "kernels/cpu/avx512/lanes.h"
#include "kernels/cpu/avx512/slots.h"

namespace kernels::avx512 {

void short_convolution(const Convolution& c)
{
    const int rows = c.width - 1;  // of the history
    for (int t = 0; t < c.tokens; ++t) {
        float* const x = c.x + std::size_t(t) * c.x_stride;
        for_lanes(c.channels, [&](int i, __mmask16 lanes) {
            const __m512 newest = _mm512_maskz_loadu_ps(lanes, x + i);
            const float* taps = c.taps + i;
            float* past = c.history + i;
            __m512 y = c.bias ? _mm512_maskz_loadu_ps(lanes, c.bias + i) : _mm512_setzero_ps();
            if (rows > 0) {
                __m512 h = _mm512_maskz_loadu_ps(lanes, past);
                for (int j = 0; j < rows; ++j) {
                    y = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(lanes, taps), h, y);
                    h = j + 1 < rows ? _mm512_maskz_loadu_ps(lanes, past + c.history_stride) : newest;
                    _mm512_mask_storeu_ps(past, lanes, h);
                    taps += c.tap_stride;
                    past += c.history_stride;
                }
            }
            y = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(lanes, taps), newest, y);
            _mm512_mask_storeu_ps(x + i, lanes, c.silu ? times_sigmoid(y, y) : y);
        });
    }
}

}  // namespace kernels::avx512
