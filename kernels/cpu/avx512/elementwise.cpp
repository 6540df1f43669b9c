// Norms, sum, rotation and activations, 16 values at a time.
#include "kernels/cpu/avx512/lanes.h"
#include "kernels/cpu/avx512/slots.h"

namespace kernels::avx512 {

void rms_norm(int n, const float* x, const float* weight, float eps, float* out)
{
    __m512 squares = _mm512_setzero_ps();
    for_lanes(n, [&](int i, __mmask16 lanes) {
        const __m512 v = _mm512_maskz_loadu_ps(lanes, x + i);
        squares = _mm512_fmadd_ps(v, v, squares);
    });
    const __m128 mean = _mm_set_ss(sum_of(squares) / float(n) + eps);
    const __m512 scale = _mm512_set1_ps(1.0f / _mm_cvtss_f32(_mm_sqrt_ss(mean)));
    for_lanes(n, [&](int i, __mmask16 lanes) {
        const __m512 v = _mm512_mul_ps(_mm512_maskz_loadu_ps(lanes, x + i), scale);
        _mm512_mask_storeu_ps(out + i, lanes, _mm512_mul_ps(v, _mm512_maskz_loadu_ps(lanes, weight + i)));
    });
}

void l2_norm(int n, const float* x, float eps, float factor, float* out)
{
    __m512 squares = _mm512_setzero_ps();
    for_lanes(n, [&](int i, __mmask16 lanes) {
        const __m512 v = _mm512_maskz_loadu_ps(lanes, x + i);
        squares = _mm512_fmadd_ps(v, v, squares);
    });
    const __m128 length = _mm_sqrt_ss(_mm_set_ss(sum_of(squares) + eps));
    const __m512 scale = _mm512_set1_ps(factor / _mm_cvtss_f32(length));
    for_lanes(n, [&](int i, __mmask16 lanes) {
        _mm512_mask_storeu_ps(out + i, lanes, _mm512_mul_ps(_mm512_maskz_loadu_ps(lanes, x + i), scale));
    });
}

void layer_norm(int n, const float* x, const float* weight, float eps, float* out)
{
    __m512 sums = _mm512_setzero_ps();
    for_lanes(n, [&](int i, __mmask16 lanes) { sums = _mm512_add_ps(sums, _mm512_maskz_loadu_ps(lanes, x + i)); });
    const __m512 mean = _mm512_set1_ps(sum_of(sums) / float(n));
    __m512 squares = _mm512_setzero_ps();
    for_lanes(n, [&](int i, __mmask16 lanes) {
        const __m512 v = _mm512_maskz_sub_ps(lanes, _mm512_maskz_loadu_ps(lanes, x + i), mean);
        squares = _mm512_fmadd_ps(v, v, squares);
    });
    const __m128 variance = _mm_set_ss(sum_of(squares) / float(n) + eps);
    const __m512 scale = _mm512_set1_ps(1.0f / _mm_cvtss_f32(_mm_sqrt_ss(variance)));
    for_lanes(n, [&](int i, __mmask16 lanes) {
        const __m512 v = _mm512_mul_ps(_mm512_sub_ps(_mm512_maskz_loadu_ps(lanes, x + i), mean), scale);
        _mm512_mask_storeu_ps(out + i, lanes, _mm512_mul_ps(v, _mm512_maskz_loadu_ps(lanes, weight + i)));
    });
}

void add(int n, const float* y, float* x)
{
    for_lanes(n, [&](int i, __mmask16 lanes) {
        _mm512_mask_storeu_ps(x + i, lanes,
                              _mm512_add_ps(_mm512_maskz_loadu_ps(lanes, x + i), _mm512_maskz_loadu_ps(lanes, y + i)));
    });
}

// Pairs (i, i + pairs).
static void rope_halves(int pairs, const float* cos, const float* sin, float* head)
{
    for_lanes(pairs, [&](int i, __mmask16 lanes) {
        const __m512 a = _mm512_maskz_loadu_ps(lanes, head + i);
        const __m512 b = _mm512_maskz_loadu_ps(lanes, head + pairs + i);
        const __m512 c = _mm512_maskz_loadu_ps(lanes, cos + i);
        const __m512 s = _mm512_maskz_loadu_ps(lanes, sin + i);
        _mm512_mask_storeu_ps(head + i, lanes, _mm512_fmsub_ps(a, c, _mm512_mul_ps(b, s)));
        _mm512_mask_storeu_ps(head + pairs + i, lanes, _mm512_fmadd_ps(a, s, _mm512_mul_ps(b, c)));
    });
}

// Pairs (2 i, 2 i + 1): eight to a register.
static void rope_neighbours(int pairs, const float* cos, const float* sin, float* head)
{
    const __m512i each_twice = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
    for (int i = 0; i < pairs; i += 8) {
        const auto factors = __mmask16(first_lanes(pairs - i) & 0xff);
        const __mmask16 lanes = first_lanes(2 * (pairs - i));
        const __m512 c = _mm512_permutexvar_ps(each_twice, _mm512_maskz_loadu_ps(factors, cos + i));
        const __m512 s = _mm512_permutexvar_ps(each_twice, _mm512_maskz_loadu_ps(factors, sin + i));
        const __m512 v = _mm512_maskz_loadu_ps(lanes, head + 2 * i);
        const __m512 swapped = _mm512_permute_ps(v, 0xb1);
        // even lanes: a c - b s; odd lanes: b c + a s
        _mm512_mask_storeu_ps(head + 2 * i, lanes, _mm512_fmaddsub_ps(v, c, _mm512_mul_ps(swapped, s)));
    }
}

void rope(bool neox, int n_rot, const float* cos, const float* sin, float* head)
{
    if (neox)
        rope_halves(n_rot / 2, cos, sin, head);
    else
        rope_neighbours(n_rot / 2, cos, sin, head);
}

void silu_mul(int n, const float* gate, const float* up, float* out)
{
    for_lanes(n, [&](int i, __mmask16 lanes) {
        const __m512 g = _mm512_maskz_loadu_ps(lanes, gate + i);
        const __m512 u = _mm512_maskz_loadu_ps(lanes, up + i);
        _mm512_mask_storeu_ps(out + i, lanes, _mm512_mul_ps(times_sigmoid(g, g), u));
    });
}

// gelu(x) = x * sigmoid(2 u), u = sqrt(2 / pi) * (x + 0.044715 x^3)
void gelu_mul(int n, const float* gate, const float* up, float* out)
{
    const __m512 two_sqrt_two_over_pi = _mm512_set1_ps(1.5957691216057308f);
    for_lanes(n, [&](int i, __mmask16 lanes) {
        const __m512 g = _mm512_maskz_loadu_ps(lanes, gate + i);
        const __m512 cubic = _mm512_fmadd_ps(_mm512_mul_ps(_mm512_set1_ps(0.044715f), g), _mm512_mul_ps(g, g), g);
        const __m512 gelu = times_sigmoid(g, _mm512_mul_ps(two_sqrt_two_over_pi, cubic));
        _mm512_mask_storeu_ps(out + i, lanes, _mm512_mul_ps(gelu, _mm512_maskz_loadu_ps(lanes, up + i)));
    });
}

void swiglu_oai(int n, const float* gate, const float* up, float alpha, float limit, float* out)
{
    const __m512 most = _mm512_set1_ps(limit);
    const __m512 least = _mm512_set1_ps(-limit);
    for_lanes(n, [&](int i, __mmask16 lanes) {
        const __m512 g = _mm512_min_ps(most, _mm512_maskz_loadu_ps(lanes, gate + i));
        const __m512 u = _mm512_max_ps(least, _mm512_min_ps(most, _mm512_maskz_loadu_ps(lanes, up + i)));
        const __m512 gated = times_sigmoid(g, _mm512_mul_ps(_mm512_set1_ps(alpha), g));
        _mm512_mask_storeu_ps(out + i, lanes, _mm512_mul_ps(gated, _mm512_add_ps(u, _mm512_set1_ps(1.0f))));
    });
}

void sigmoid_mul(int n, const float* gate, const float* up, float* out)
{
    for_lanes(n, [&](int i, __mmask16 lanes) {
        const __m512 g = _mm512_maskz_loadu_ps(lanes, gate + i);
        _mm512_mask_storeu_ps(out + i, lanes, times_sigmoid(_mm512_maskz_loadu_ps(lanes, up + i), g));
    });
}

void relu_squared(int n, const float* x, float* out)
{
    for_lanes(n, [&](int i, __mmask16 lanes) {
        const __m512 v = _mm512_maskz_loadu_ps(lanes, x + i);
        const __m512 positive = _mm512_max_ps(_mm512_setzero_ps(), v);  // in this order NaN stays NaN
        _mm512_mask_storeu_ps(out + i, lanes, _mm512_mul_ps(positive, positive));
    });
}

}  // namespace kernels::avx512
