// Products of float, half and bfloat16 weights with float activations. Weight i adds to lane i % 16 of one running sum
// for each row and token, whatever tile they are computed in.
#include "kernels/cpu/avx512/lanes.h"
#include "kernels/cpu/avx512/slots.h"

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

template <class Weight, int Rows, int Tokens>
void tile(const MatMul& m, int row, int token)
{
    const std::ptrdiff_t stride = std::ptrdiff_t(m.n) * Weight::kBytes;
    const std::byte* w = m.weights + row * stride;
    const std::byte* x = m.x + std::size_t(token) * m.x_stride;
    __m512 sums[Rows][Tokens];
    for (int r = 0; r < Rows; ++r)
        for (int t = 0; t < Tokens; ++t)
            sums[r][t] = _mm512_setzero_ps();
    for_lanes(m.n, [&](int i, __mmask16 lanes) {
        __m512 weights[Rows];
        for (int r = 0; r < Rows; ++r) {
            const std::byte* at = w + r * stride + std::ptrdiff_t(i) * Weight::kBytes;
            if constexpr (Tokens == 1)
                _mm_prefetch(reinterpret_cast<const char*>(at + kPrefetchBytes), _MM_HINT_T0);
            weights[r] = Weight::load(at, lanes);
        }
        for (int t = 0; t < Tokens; ++t) {
            const __m512 values =
                _mm512_maskz_loadu_ps(lanes, reinterpret_cast<const float*>(x + std::size_t(t) * m.x_stride) + i);
            for (int r = 0; r < Rows; ++r)
                sums[r][t] = _mm512_fmadd_ps(weights[r], values, sums[r][t]);
        }
    });
    for (int t = 0; t < Tokens; ++t)
        for (int r = 0; r < Rows; ++r)
            m.out[std::size_t(token + t) * m.out_stride + std::size_t(row + r)] = sum_of(sums[r][t]);
}

template <class Weight, int Tokens>
void rows_with_tokens(const MatMul& m, int first_row, int last_row, int token)
{
    int r = first_row;
    for (; r + kTileRows <= last_row; r += kTileRows)
        tile<Weight, kTileRows, Tokens>(m, r, token);
    for (; r < last_row; ++r)
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
        for (; t + 2 <= m.tokens; t += 2)
            rows_with_tokens<Weight, 2>(m, first, last, t);
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

}  // namespace kernels::avx512
