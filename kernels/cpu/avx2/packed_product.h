// Multiplies packed weights with 8-bit activations. Few tokens: a row is unpacked into bytes in the first cache and
// serves them. Many: 8 rows are unpacked side by side and serve every token. Both sum in the same order, so they give
// the same bits.
//
// Groups of 32 weights are added to eight running sums in turn: group b to sum b % 8. A group adds, by fused
// multiply-adds and in this order, its exact integer products times (weight scale * activation scale), first half
// before second where a scale covers 16; then its offset times the activations' sum.
#pragma once

#include "kernels/cpu/avx2/formats.h"
#include "kernels/cpu/avx2/grid_formats.h"
#include "kernels/cpu/avx2/lanes.h"
#include "kernels/cpu/avx2/ternary_formats.h"
#include "kernels/cpu/avx2/tile.h"
#include "kernels/cpu/thread_scratch.h"

namespace kernels::avx2 {

constexpr int kFewTokens = 3;
constexpr int kTileTokens = 4;  // four exact and four float sums, pairs, weights and activations: 16 registers

struct Halves {
    __m256i first, second;  // lane g: the sum of 16 products in the first or second half of group g
};

// Adds up the sums of four groups: the low 128 bits of the result are those of the groups' first halves, the high ones
// those of their second halves.
inline __m256i join_four(const __m256i (&d)[4])
{
    const __m256i d01 = _mm256_add_epi32(_mm256_unpacklo_epi32(d[0], d[1]), _mm256_unpackhi_epi32(d[0], d[1]));
    const __m256i d23 = _mm256_add_epi32(_mm256_unpacklo_epi32(d[2], d[3]), _mm256_unpackhi_epi32(d[2], d[3]));
    return _mm256_add_epi32(_mm256_unpacklo_epi64(d01, d23), _mm256_unpackhi_epi64(d01, d23));
}

template <bool Signed, class Products>
inline __m256i join_products(const std::uint8_t* w, const std::int8_t* x)
{
    __m256i d[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        __m256i weights = load256(w + 32 * i);
        __m256i values = load256(x + 32 * i);
        if constexpr (Signed) {  // |w| times x with the sign of w; x is never -128, so it has an opposite
            values = _mm256_sign_epi8(values, weights);
            weights = _mm256_abs_epi8(weights);
        }
        d[i] = Products::add(_mm256_setzero_si256(), weights, values);
    }
    return join_four(d);
}

template <bool Signed, class Products>
inline Halves half_products(const std::uint8_t* w, const std::int8_t* x)
{
    const __m256i low = join_products<Signed, Products>(w, x);
    const __m256i high = join_products<Signed, Products>(w + 128, x + 128);
    return {_mm256_permute2x128_si256(low, high, 0x20), _mm256_permute2x128_si256(low, high, 0x31)};
}

struct Floats {
    __m256 first, second;
};

// Takes 16 floats, one for each half group in order, apart: those of first halves and those of second halves.
inline Floats halves_apart(const void* natural)
{
    const __m256i order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
    const auto* at = static_cast<const float*>(natural);
    const __m256 low = _mm256_permutevar8x32_ps(_mm256_loadu_ps(at), order);
    const __m256 high = _mm256_permutevar8x32_ps(_mm256_loadu_ps(at + 8), order);
    return {_mm256_permute2f128_ps(low, high, 0x20), _mm256_permute2f128_ps(low, high, 0x31)};
}

template <class Format>
inline __m256 add_halves(const Chunk256& w, const TokenRow& x, Halves exact, __m256 sums)
{
    if constexpr (Format::kBias != 0) {
        const Floats shift = halves_apart(x.shift);
        constexpr int kDown = shift_down(Format::kBias);
        exact.first = _mm256_add_epi32(exact.first, _mm256_srai_epi32(_mm256_castps_si256(shift.first), kDown));
        exact.second = _mm256_add_epi32(exact.second, _mm256_srai_epi32(_mm256_castps_si256(shift.second), kDown));
    }
    const __m256 scales = _mm256_loadu_ps(x.scale);
    sums = _mm256_fmadd_ps(_mm256_cvtepi32_ps(exact.first), _mm256_mul_ps(_mm256_loadu_ps(w.scale), scales), sums);
    sums = _mm256_fmadd_ps(_mm256_cvtepi32_ps(exact.second), _mm256_mul_ps(_mm256_loadu_ps(w.scale + 8), scales), sums);
    if constexpr (Format::kOffset) {
        const Floats x_sums = halves_apart(x.sum);
        sums = _mm256_fmadd_ps(_mm256_loadu_ps(w.offset), x_sums.first, sums);
        sums = _mm256_fmadd_ps(_mm256_loadu_ps(w.offset + 8), x_sums.second, sums);
    }
    return sums;
}

template <class Format, class Products>
inline __m256 add_groups(const Chunk256& w, const TokenRow& x, __m256 sums)
{
    const Halves halves = half_products<Format::kSigned, Products>(w.q, x.q);
    if constexpr (Format::kHalves)
        return add_halves<Format>(w, x, halves, sums);
    __m256i exact = _mm256_add_epi32(halves.first, halves.second);
    if constexpr (Format::kBias != 0)
        exact = _mm256_add_epi32(exact, _mm256_srai_epi32(load256(x.shift), shift_down(Format::kBias)));
    const __m256 scale = _mm256_mul_ps(_mm256_loadu_ps(w.scale), _mm256_loadu_ps(x.scale));
    sums = _mm256_fmadd_ps(_mm256_cvtepi32_ps(exact), scale, sums);
    if constexpr (Format::kOffset)
        sums = _mm256_fmadd_ps(_mm256_loadu_ps(w.offset), _mm256_loadu_ps(x.sum), sums);
    return sums;
}

constexpr std::ptrdiff_t kPrefetchBytes = 2048;

template <class Format>
void unpack_row(const std::byte* row, int groups, Chunk256* chunks)
{
    constexpr std::ptrdiff_t kStep = 8 / Format::kGroups * Format::kBytes;
    for (int first = 0; first < groups; first += 8, row += kStep, ++chunks) {
        for (std::ptrdiff_t line = 0; line < kStep; line += 64)
            _mm_prefetch(reinterpret_cast<const char*>(row + kPrefetchBytes + line), _MM_HINT_T0);
        const int count = groups - first < 8 ? groups - first : 8;
        if (count < 8)
            std::memset(chunks, 0, sizeof *chunks);
        Format::unpack(row, count, *chunks);
    }
}

/// Multiplies few tokens. Everything is inlined: calls for every 256 weights would take time.
template <class Format, class Products>
[[gnu::flatten]] void product_by_rows(const MatMul& m, Chunk256* chunks)
{
    constexpr int kParts = Format::kHalves ? 2 : 1;
    const int groups = m.n / 32;
    const int whole = groups / 8;
    const int tail = groups % 8;
    TokenRow x[kFewTokens];
    TokenTail tails[kFewTokens];
    for (int t = 0; t < m.tokens; ++t) {
        x[t] = token_row<Format>(m, t);
        if (tail)
            tails[t].fill(x[t].at(whole, kParts), kParts, tail);
    }
    const std::ptrdiff_t stride = std::ptrdiff_t(groups / Format::kGroups) * Format::kBytes;
    for (int r = 0; r < m.rows; ++r) {
        unpack_row<Format>(m.weights + r * stride, groups, chunks);
        for (int t = 0; t < m.tokens; ++t) {
            __m256 sums = _mm256_setzero_ps();
            for (int c = 0; c < whole; ++c)
                sums = add_groups<Format, Products>(chunks[c], x[t].at(c, kParts), sums);
            if (tail)
                sums = add_groups<Format, Products>(chunks[whole], tails[t].row(), sums);
            m.out[std::size_t(t) * m.out_stride + std::size_t(r)] = sum_of(sums);
        }
    }
}

/// Multiplies the first `rows` rows of a panel with all tokens. out: the first token's
template <class Kind, class Products>
void product_with_panel(const MatMul& m, const Panel& panel, int rows, float* out)
{
    const auto tile_of = [&]<int Tokens>(int first) {
        tile<Kind, Products, Tokens>(panel, rows, token_row<Kind>(m, first), std::ptrdiff_t(m.x_stride),
                                     out + std::size_t(first) * m.out_stride, m.out_stride);
    };
    for_token_runs<kTileTokens>(m.tokens, tile_of);
}

/// Multiplies rows that are `stride` bytes apart with many tokens.
template <class Kind, class Products>
void product_by_panels(const MatMul& m, std::ptrdiff_t stride, FillPanel* fill)
{
    const int groups = m.n / 32;
    const Panel panel{groups, Kind::kParts, thread_scratch(Panel::bytes(groups, Kind::kParts))};
    for (int r = 0; r < m.rows; r += kPanelRows) {
        const int rows = m.rows - r < kPanelRows ? m.rows - r : kPanelRows;
        fill(m.weights + r * stride, stride, rows, panel);
        product_with_panel<Kind, Products>(m, panel, rows, m.out + r);
    }
}

template <class Format, class Products>
void matmul_packed(const MatMul& m)
{
    if (m.tokens > kFewTokens) {
        const std::ptrdiff_t stride = std::ptrdiff_t(m.n / 32 / Format::kGroups) * Format::kBytes;
        return product_by_panels<TileKind<Format, Products>, Products>(m, stride, fill_panel<Format>);
    }
    const auto chunk_count = std::size_t(m.n / 32 + 7) / 8;
    product_by_rows<Format, Products>(m, reinterpret_cast<Chunk256*>(thread_scratch(chunk_count * sizeof(Chunk256))));
}

}  // namespace kernels::avx2
