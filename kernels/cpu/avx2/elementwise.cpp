// Norms, sum, rotation and activations, eight values at a time.
#include "kernels/cpu/avx2/lanes.h"
#include "kernels/cpu/avx2/slots.h"

namespace kernels::avx2 {

void rms_norm(int n, const float* x, const float* weight, float eps, float* out)
{
    __m256 squares = _mm256_setzero_ps();
    for_lanes(n, [&](int i, __m256i lanes) {
        const __m256 v = load(x + i, lanes);
        squares = _mm256_fmadd_ps(v, v, squares);
    });
    const __m128 mean = _mm_set_ss(sum_of(squares) / float(n) + eps);
    const __m256 scale = _mm256_set1_ps(1.0f / _mm_cvtss_f32(_mm_sqrt_ss(mean)));
    for_lanes(n, [&](int i, __m256i lanes) {
        const __m256 v = _mm256_mul_ps(load(x + i, lanes), scale);
        _mm256_maskstore_ps(out + i, lanes, _mm256_mul_ps(v, load(weight + i, lanes)));
    });
}

void l2_norm(int n, const float* x, float eps, float factor, float* out)
{
    __m256 squares = _mm256_setzero_ps();
    for_lanes(n, [&](int i, __m256i lanes) {
        const __m256 v = load(x + i, lanes);
        squares = _mm256_fmadd_ps(v, v, squares);
    });
    const __m128 length = _mm_sqrt_ss(_mm_set_ss(sum_of(squares) + eps));
    const __m256 scale = _mm256_set1_ps(factor / _mm_cvtss_f32(length));
    for_lanes(n, [&](int i, __m256i lanes) {
        _mm256_maskstore_ps(out + i, lanes, _mm256_mul_ps(load(x + i, lanes), scale));
    });
}

void layer_norm(int n, const float* x, const float* weight, float eps, float* out)
{
    __m256 sums = _mm256_setzero_ps();
    for_lanes(n, [&](int i, __m256i lanes) { sums = _mm256_add_ps(sums, load(x + i, lanes)); });
    const __m256 mean = _mm256_set1_ps(sum_of(sums) / float(n));
    __m256 squares = _mm256_setzero_ps();
    for_lanes(n, [&](int i, __m256i lanes) {
        // Lanes behind the end stay 0.
        const __m256 v = _mm256_and_ps(_mm256_sub_ps(load(x + i, lanes), mean), _mm256_castsi256_ps(lanes));
        squares = _mm256_fmadd_ps(v, v, squares);
    });
    const __m128 variance = _mm_set_ss(sum_of(squares) / float(n) + eps);
    const __m256 scale = _mm256_set1_ps(1.0f / _mm_cvtss_f32(_mm_sqrt_ss(variance)));
    for_lanes(n, [&](int i, __m256i lanes) {
        const __m256 v = _mm256_mul_ps(_mm256_sub_ps(load(x + i, lanes), mean), scale);
        _mm256_maskstore_ps(out + i, lanes, _mm256_mul_ps(v, load(weight + i, lanes)));
    });
}

void add(int n, const float* y, float* x)
{
    for_lanes(n, [&](int i, __m256i lanes) {
        _mm256_maskstore_ps(x + i, lanes, _mm256_add_ps(load(x + i, lanes), load(y + i, lanes)));
    });
}

// Pairs (i, i + pairs).
static void rope_halves(int pairs, const float* cos, const float* sin, float* head)
{
    for_lanes(pairs, [&](int i, __m256i lanes) {
        const __m256 a = load(head + i, lanes);
        const __m256 b = load(head + pairs + i, lanes);
        const __m256 c = load(cos + i, lanes);
        const __m256 s = load(sin + i, lanes);
        _mm256_maskstore_ps(head + i, lanes, _mm256_fmsub_ps(a, c, _mm256_mul_ps(b, s)));
        _mm256_maskstore_ps(head + pairs + i, lanes, _mm256_fmadd_ps(a, s, _mm256_mul_ps(b, c)));
    });
}

// Pairs (2 i, 2 i + 1): four to a register.
static void rope_neighbours(int pairs, const float* cos, const float* sin, float* head)
{
    const __m256i each_twice = _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3);
    for (int i = 0; i < pairs; i += 4) {
        const __m256i factors = first_lanes(pairs - i < 4 ? pairs - i : 4);
        const __m256i lanes = first_lanes(2 * (pairs - i));
        const __m256 c = _mm256_permutevar8x32_ps(load(cos + i, factors), each_twice);
        const __m256 s = _mm256_permutevar8x32_ps(load(sin + i, factors), each_twice);
        const __m256 v = load(head + 2 * i, lanes);
        const __m256 swapped = _mm256_permute_ps(v, 0xb1);
        // even lanes: a c - b s; odd lanes: b c + a s
        _mm256_maskstore_ps(head + 2 * i, lanes, _mm256_fmaddsub_ps(v, c, _mm256_mul_ps(swapped, s)));
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
    for_lanes(n, [&](int i, __m256i lanes) {
        const __m256 g = load(gate + i, lanes);
        _mm256_maskstore_ps(out + i, lanes, _mm256_mul_ps(times_sigmoid(g, g), load(up + i, lanes)));
    });
}

// gelu(x) = x * sigmoid(2 u), u = sqrt(2 / pi) * (x + 0.044715 x^3)
void gelu_mul(int n, const float* gate, const float* up, float* out)
{
    const __m256 two_sqrt_two_over_pi = _mm256_set1_ps(1.5957691216057308f);
    for_lanes(n, [&](int i, __m256i lanes) {
        const __m256 g = load(gate + i, lanes);
        const __m256 cubic = _mm256_fmadd_ps(_mm256_mul_ps(_mm256_set1_ps(0.044715f), g), _mm256_mul_ps(g, g), g);
        const __m256 gelu = times_sigmoid(g, _mm256_mul_ps(two_sqrt_two_over_pi, cubic));
        _mm256_maskstore_ps(out + i, lanes, _mm256_mul_ps(gelu, load(up + i, lanes)));
    });
}

void swiglu_oai(int n, const float* gate, const float* up, float alpha, float limit, float* out)
{
    const __m256 most = _mm256_set1_ps(limit);
    const __m256 least = _mm256_set1_ps(-limit);
    for_lanes(n, [&](int i, __m256i lanes) {
        const __m256 g = _mm256_min_ps(most, load(gate + i, lanes));
        const __m256 u = _mm256_max_ps(least, _mm256_min_ps(most, load(up + i, lanes)));
        const __m256 gated = times_sigmoid(g, _mm256_mul_ps(_mm256_set1_ps(alpha), g));
        _mm256_maskstore_ps(out + i, lanes, _mm256_mul_ps(gated, _mm256_add_ps(u, _mm256_set1_ps(1.0f))));
    });
}

void sigmoid_mul(int n, const float* gate, const float* up, float* out)
{
    for_lanes(n, [&](int i, __m256i lanes) {
        _mm256_maskstore_ps(out + i, lanes, times_sigmoid(load(up + i, lanes), load(gate + i, lanes)));
    });
}

void relu_squared(int n, const float* x, float* out)
{
    for_lanes(n, [&](int i, __m256i lanes) {
        const __m256 positive = _mm256_max_ps(_mm256_setzero_ps(), load(x + i, lanes));  // in this order NaN stays NaN
        _mm256_maskstore_ps(out + i, lanes, _mm256_mul_ps(positive, positive));
    });
}

}  // namespace kernels::avx2
