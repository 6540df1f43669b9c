// Products of float, half and bfloat16 weights with float activations. Weight i adds to lane i % 16 of one running sum
// (two registers) for each row and token, whatever tile they are computed in.
#include "kernels/cpu/avx2/lanes.h"
#include "kernels/cpu/avx2/slots.h"

#include <cstring>

namespace kernels::avx2 {

namespace {

struct F32 {
    static constexpr int kBytes = 4;
    static __m256 load(const std::byte* at) { return _mm256_loadu_ps(reinterpret_cast<const float*>(at)); }
};

struct F16 {
    static constexpr int kBytes = 2;
    static __m256 load(const std::byte* at)
    {
        return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
    }
};

struct BF16 {
    static constexpr int kBytes = 2;
    static __m256 load(const std::byte* at)
    {
        const __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
        return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
    }
};

constexpr int kStep = 2 * kLanes;
constexpr int kTileRows = 2;
constexpr int kTileTokens = 2;
constexpr int kRowsInCache = 64;  // rows that every token visits before the next ones
constexpr std::ptrdiff_t kPrefetchBytes = 1024;

// The loops over registers are unrolled by pragmas: GCC keeps the sums in memory if a single index is not a constant.

template <class Weight, int Rows, int Tokens>
inline void add_step(const std::byte* w, std::ptrdiff_t stride, const std::byte* x, std::size_t x_stride,
                     __m256 (&sums)[Rows][Tokens][2])
{
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
        __m256 weights[Rows];
#pragma GCC unroll 2
        for (int r = 0; r < Rows; ++r)
            weights[r] = Weight::load(w + r * stride + half * kLanes * Weight::kBytes);
#pragma GCC unroll 2
        for (int t = 0; t < Tokens; ++t) {
            const __m256 values = F32::load(x + std::size_t(t) * x_stride + half * kLanes * 4);
#pragma GCC unroll 2
            for (int r = 0; r < Rows; ++r)
                sums[r][t][half] = _mm256_fmadd_ps(weights[r], values, sums[r][t][half]);
        }
    }
}

template <class Weight, int Rows, int Tokens>
void tile(const MatMul& m, int row, int token)
{
    const std::ptrdiff_t stride = std::ptrdiff_t(m.n) * Weight::kBytes;
    const std::byte* w = m.weights + row * stride;
    const std::byte* x = m.x + std::size_t(token) * m.x_stride;
    __m256 sums[Rows][Tokens][2];
#pragma GCC unroll 2
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 2
        for (int t = 0; t < Tokens; ++t)
            sums[r][t][0] = sums[r][t][1] = _mm256_setzero_ps();
    int i = 0;
    for (; i + kStep <= m.n; i += kStep, w += kStep * Weight::kBytes, x += kStep * 4) {
        for (int r = 0; r < Rows; ++r)
            _mm_prefetch(reinterpret_cast<const char*>(w + r * stride + kPrefetchBytes), _MM_HINT_T0);
        add_step<Weight, Rows, Tokens>(w, stride, x, m.x_stride, sums);
    }
    if (i < m.n) {  // the rest, filled up with zeros
        std::byte w_rest[Rows][kStep * 4] = {};
        std::byte x_rest[Tokens][kStep * 4] = {};
        for (int r = 0; r < Rows; ++r)
            std::memcpy(w_rest[r], w + r * stride, std::size_t(m.n - i) * Weight::kBytes);
        for (int t = 0; t < Tokens; ++t)
            std::memcpy(x_rest[t], x + std::size_t(t) * m.x_stride, std::size_t(m.n - i) * 4);
        add_step<Weight, Rows, Tokens>(w_rest[0], kStep * 4, x_rest[0], kStep * 4, sums);
    }
#pragma GCC unroll 2
    for (int t = 0; t < Tokens; ++t)
#pragma GCC unroll 2
        for (int r = 0; r < Rows; ++r)
            m.out[std::size_t(token + t) * m.out_stride + std::size_t(row + r)] =
                sum_of(_mm256_add_ps(sums[r][t][0], sums[r][t][1]));
}

template <class Weight, int Tokens>
void rows_with_tokens(const MatMul& m, int first_row, int last_row, int token)
{
    int r = first_row;
    for (; r + kTileRows <= last_row; r += kTileRows)
        tile<Weight, kTileRows, Tokens>(m, r, token);
    if (r < last_row)
        tile<Weight, 1, Tokens>(m, r, token);
}

template <class Weight>
void matmul(const MatMul& m)
{
    for (int first = 0; first < m.rows; first += kRowsInCache) {
        const int last = m.rows - first < kRowsInCache ? m.rows : first + kRowsInCache;
        int t = 0;
        for (; t + kTileTokens <= m.tokens; t += kTileTokens)
            rows_with_tokens<Weight, kTileTokens>(m, first, last, t);
        if (t < m.tokens)
            rows_with_tokens<Weight, 1>(m, first, last, t);
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

}  // namespace kernels::avx2
