// Products of float, half and bfloat16 weights with float activations. Weight i adds to lane i % 16 of one running sum
// for each row and token, whatever tile they are computed in.
#include "kernels/cpu/avx512/lanes.h"
#include "kernels/cpu/avx512/slots.h"
#include "kernels/cpu/thread_scratch.h"

namespace kernels::avx512 {

namespace {

struct F32 {
    static constexpr int kBytes = 4;
    static __m512 load(const std::byte* at, __mmask16 lanes) { return _mm512_maskz_loadu_ps(lanes, at); }
};

struct F16 {
    static constexpr int kBytes = 2;
    static __m512 load(const std::byte* at, __mmask16 lanes)
    {
        return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(lanes, at));
    }
};

struct BF16 {
    static constexpr int kBytes = 2;
    static __m512 load(const std::byte* at, __mmask16 lanes)
    {
        return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(lanes, at)), 16));
    }
};

constexpr int kTileRows = 4;
constexpr int kTileTokens = 6;
constexpr int kRowsInCache = 64;  // rows that every token visits before the next ones: at 4 KB a row, a quarter of L2
constexpr std::ptrdiff_t kPrefetchBytes = 1024;

/// Copies a few tokens side by side: (steps, Tokens, 16), the last step filled up with zeros. They are then read as one
/// stream, instead of many at distances that are powers of two, which would push each other out of the cache.
template <int Tokens>
const float* side_by_side(const MatMul& m, int token, float* packed)
{
    for (int t = 0; t < Tokens; ++t) {
        const auto* x = reinterpret_cast<const float*>(m.x + std::size_t(token + t) * m.x_stride);
        for_lanes(m.n, [&](int i, __mmask16 lanes) {
            _mm512_storeu_ps(packed + std::ptrdiff_t(i) * Tokens + kLanes * t, _mm512_maskz_loadu_ps(lanes, x + i));
        });
    }
    return packed;
}

// Here and below the loops over registers are unrolled by pragmas: GCC keeps the sums in memory if a single index is
// not a constant.

// Multiplies sixteen weights of each row with as many values of each token.
template <class Weight, int Rows, int Tokens>
inline void add_step(const std::byte* w, std::ptrdiff_t stride, __mmask16 lanes, const float* x,
                     __m512 (&sums)[Rows][Tokens])
{
    __m512 weights[Rows];
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
        if constexpr (Tokens == 1)
            _mm_prefetch(reinterpret_cast<const char*>(w + r * stride + kPrefetchBytes), _MM_HINT_T0);
        weights[r] = Weight::load(w + r * stride, lanes);
    }
#pragma GCC unroll 8
    for (int t = 0; t < Tokens; ++t) {
        const __m512 values = _mm512_loadu_ps(x + kLanes * t);
#pragma GCC unroll 8
        for (int r = 0; r < Rows; ++r)
            sums[r][t] = _mm512_fmadd_ps(weights[r], values, sums[r][t]);
    }
}

template <class Weight, int Rows, int Tokens>
void tile(const MatMul& m, const float* x, int row, int token)
{
    const std::ptrdiff_t stride = std::ptrdiff_t(m.n) * Weight::kBytes;
    const std::byte* w = m.weights + row * stride;
    __m512 sums[Rows][Tokens];
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 8
        for (int t = 0; t < Tokens; ++t)
            sums[r][t] = _mm512_setzero_ps();
    int i = 0;
    for (; i + kLanes <= m.n; i += kLanes, w += kLanes * Weight::kBytes, x += kLanes * Tokens)
        add_step<Weight>(w, stride, 0xffff, x, sums);
    if (i < m.n)
        add_step<Weight>(w, stride, first_lanes(m.n - i), x, sums);
#pragma GCC unroll 8
    for (int t = 0; t < Tokens; ++t)
#pragma GCC unroll 8
        for (int r = 0; r < Rows; ++r)
            m.out[std::size_t(token + t) * m.out_stride + std::size_t(row + r)] = sum_of(sums[r][t]);
}

template <class Weight, int Tokens>
void rows_with_tokens(const MatMul& m, int first_row, int last_row, int token, float* scratch)
{
    const float* x = side_by_side<Tokens>(m, token, scratch);
    int r = first_row;
    for (; r + kTileRows <= last_row; r += kTileRows)
        tile<Weight, kTileRows, Tokens>(m, x, r, token);
    for (; r < last_row; ++r)
        tile<Weight, 1, Tokens>(m, x, r, token);
}

template <class Weight>
void matmul(const MatMul& m)
{
    const std::size_t padded = std::size_t(m.n + kLanes - 1) / kLanes * kLanes;
    auto* scratch = reinterpret_cast<float*>(thread_scratch(padded * kTileTokens * sizeof(float)));
    if (m.tokens == 1)
        return rows_with_tokens<Weight, 1>(m, 0, m.rows, 0, scratch);
    for (int first = 0; first < m.rows; first += kRowsInCache) {
        const int last = m.rows - first < kRowsInCache ? m.rows : first + kRowsInCache;
        int t = 0;
        for (; t + kTileTokens <= m.tokens; t += kTileTokens)
            rows_with_tokens<Weight, kTileTokens>(m, first, last, t, scratch);
        for (; t + 2 <= m.tokens; t += 2)
            rows_with_tokens<Weight, 2>(m, first, last, t, scratch);
        if (t < m.tokens)
            rows_with_tokens<Weight, 1>(m, first, last, t, scratch);
    }
}

}  // namespace

void matmul_f32(const MatMul& m)
{
    matmul<F32>(m);
}

void matmul_f16(const MatMul& m)
{
    matmul<F16>(m);
}

void matmul_bf16(const MatMul& m)
{
    matmul<BF16>(m);
}

}  // namespace kernels::avx512
