// Linear attention, up to 32 columns of the state at a time. A column's sums do not depend on how many are taken
// together: M^T k is one sum over the even keys and one over the odd ones, M^T q a single one.
#include "kernels/cpu/avx2/lanes.h"
#include "kernels/cpu/avx2/slots.h"
#include "kernels/cpu/thread_scratch.h"

#include <algorithm>

namespace kernels::avx2 {

namespace {

// From this many tokens on, columns that are only a part of the state's rows are copied: side by side they stay in the
// first cache from token to token, while at a stride of a power of two they would share a few of its sets.
constexpr int kTokensWorthACopy = 8;

/// kVectors * 8 columns, of which the last vector may have fewer.
template <int kVectors>
struct Columns {
    __m256i last;

    __m256 load(const float* row, int i) const
    {
        return i < kVectors - 1 ? _mm256_loadu_ps(row + kLanes * i) : avx2::load(row + kLanes * i, last);
    }
    void store(float* row, int i, __m256 x) const
    {
        if (i < kVectors - 1)
            _mm256_storeu_ps(row + kLanes * i, x);
        else
            _mm256_maskstore_ps(row + kLanes * i, last, x);
    }
    void copy(int keys, const float* from, std::size_t from_stride, float* to, std::size_t to_stride) const
    {
        for (int key = 0; key < keys; ++key, from += from_stride, to += to_stride)
#pragma GCC unroll 4
            for (int i = 0; i < kVectors; ++i)
                store(to, i, load(from, i));
    }
};

struct State {
    float* first;  // of key 0
    std::size_t stride;
};

/// sums = M^T k
template <int kVectors>
void sum_over_keys(const LinearAttention& a, Columns<kVectors> columns, State state, const float* k,
                   __m256 (&sums)[kVectors])
{
    __m256 odd[kVectors];
#pragma GCC unroll 4
    for (int i = 0; i < kVectors; ++i)
        sums[i] = odd[i] = _mm256_setzero_ps();
    const float* m = state.first;
    const int keys = a.keys;
    int key = 0;
    for (; key + 2 <= keys; key += 2, m += 2 * state.stride) {
        const __m256 even_k = _mm256_set1_ps(k[key]), odd_k = _mm256_set1_ps(k[key + 1]);
#pragma GCC unroll 4
        for (int i = 0; i < kVectors; ++i) {
            sums[i] = _mm256_fmadd_ps(columns.load(m, i), even_k, sums[i]);
            odd[i] = _mm256_fmadd_ps(columns.load(m + state.stride, i), odd_k, odd[i]);
        }
    }
    if (key < keys)
#pragma GCC unroll 4
        for (int i = 0; i < kVectors; ++i)
            sums[i] = _mm256_fmadd_ps(columns.load(m, i), _mm256_set1_ps(k[key]), sums[i]);
#pragma GCC unroll 4
    for (int i = 0; i < kVectors; ++i)
        sums[i] = _mm256_add_ps(sums[i], odd[i]);
}

/// Prefetches the rows of token t: they lie far apart in memory, so that the processor does not read ahead by itself.
void ask_for(const LinearAttention& a, int t, int first, int columns)
{
    if (t >= a.tokens)
        return;
    const auto token = std::size_t(t);
    const auto ask = [](const float* row, int n) {
        for (int i = 0; i < n; i += 16)
            _mm_prefetch(reinterpret_cast<const char*>(row + i), _MM_HINT_T0);
    };
    ask(a.k + token * a.qk_stride, a.keys);
    ask(a.q + token * a.qk_stride, a.keys);
    ask(a.v + token * a.v_stride + first, columns);
}

template <int kVectors>
void one_token(const LinearAttention& a, Columns<kVectors> columns, State state, int t, int first)
{
    const auto token = std::size_t(t);
    const float* k = a.k + token * a.qk_stride;
    const float* q = a.q + token * a.qk_stride;
    const float* v = a.v + token * a.v_stride + first;
    const __m256 decay = _mm256_set1_ps(a.decay[token * a.gate_stride]);
    const __m256 beta = _mm256_set1_ps(a.beta[token * a.gate_stride]);

    __m256 d[kVectors], out[kVectors];
    if (a.delta_rule) {
        sum_over_keys(a, columns, state, k, d);
#pragma GCC unroll 4
        for (int i = 0; i < kVectors; ++i)
            d[i] = _mm256_mul_ps(beta, _mm256_fnmadd_ps(decay, d[i], columns.load(v, i)));
    } else {
#pragma GCC unroll 4
        for (int i = 0; i < kVectors; ++i)
            d[i] = _mm256_mul_ps(beta, columns.load(v, i));
    }
#pragma GCC unroll 4
    for (int i = 0; i < kVectors; ++i)
        out[i] = _mm256_setzero_ps();
    const int keys = a.keys;
    float* m = state.first;
    for (int key = 0; key < keys; ++key, m += state.stride) {
        const __m256 key_k = _mm256_set1_ps(k[key]), key_q = _mm256_set1_ps(q[key]);
#pragma GCC unroll 4
        for (int i = 0; i < kVectors; ++i) {
            const __m256 moved = _mm256_fmadd_ps(decay, columns.load(m, i), _mm256_mul_ps(key_k, d[i]));
            columns.store(m, i, moved);
            out[i] = _mm256_fmadd_ps(moved, key_q, out[i]);
        }
    }
    float* to = a.out + token * a.out_stride + first;
#pragma GCC unroll 4
    for (int i = 0; i < kVectors; ++i)
        columns.store(to, i, out[i]);
}

/// Computes all tokens of the columns from `first` on, kVectors registers at most. Returns how many columns these are.
template <int kVectors>
int all_tokens(const LinearAttention& a, int first)
{
    const int count = std::min(a.values - first, kLanes * kVectors);
    const Columns<kVectors> columns{first_lanes(count - kLanes * (kVectors - 1))};
    const State there{a.state + first, a.state_stride};
    State state = there;
    constexpr std::size_t kStride = kLanes * kVectors;
    if (a.tokens >= kTokensWorthACopy && a.state_stride > kStride) {
        state = {reinterpret_cast<float*>(thread_scratch(std::size_t(a.keys) * kStride * sizeof(float))), kStride};
        columns.copy(a.keys, there.first, there.stride, state.first, state.stride);
    }
    for (int t = 0; t < a.tokens; ++t) {
        ask_for(a, t + 1, first, count);
        one_token(a, columns, state, t, first);
    }
    if (state.first != there.first)
        columns.copy(a.keys, state.first, state.stride, there.first, there.stride);
    return count;
}

int some_columns(const LinearAttention& a, int first)
{
    const int vectors = (a.values - first + kLanes - 1) / kLanes;
    if (vectors >= 4)
        return all_tokens<4>(a, first);
    return vectors >= 2 ? all_tokens<2>(a, first) : all_tokens<1>(a, first);
}

}  // namespace

void linear_attention(const LinearAttention& a)
{
    for (int first = 0; first < a.values;)
        first += some_columns(a, first);
}

}  // namespace kernels::avx2
