// Multiplies one or two panels of 16 rows with a few tokens: the inner loop of prefill.
#pragma once

#include "kernels/cpu/avx512/panel.h"
#include "kernels/cpu/token_rows.h"

namespace kernels::avx512 {

/// Holds what a tile needs to know of a format. Few formats differ in it, so that most share their tiles.
template <bool Halves, bool Shift, bool Offset>
struct Kind {
    static constexpr bool kHalves = Halves, kShift = Shift, kOffset = Offset;
    static constexpr int kParts = Halves ? 2 : 1;
};

template <class Format>
using TileKind = Kind<Format::kHalves, Format::kBias != 0, Format::kOffset>;

inline __m512i four_of(const std::int8_t* q)
{
    return _mm512_set1_epi32(word_at<int>(q));
}

/// Adds running sum `sum` (groups sum, sum + 8, ...) of every row and token.
template <int Parts, bool Shift, bool Offset, int Panels, int Tokens>
inline void add_running_sum(const Panel (&panels)[Panels], const TokenRow* x, int sum, __m512 (&out)[Panels][Tokens])
{
    const PanelShape& shape = panels[0].shape;
    for (int p = 0; p < Panels; ++p)
        for (int t = 0; t < Tokens; ++t)
            out[p][t] = _mm512_setzero_ps();
    for (int group = sum, slot = shape.slot(sum); group < shape.groups; group += kSums, ++slot) {
        for (int part = 0; part < Parts; ++part) {
            constexpr int kSteps = 8 / Parts;
            const int x_part = group * Parts + part;
            __m512i exact[Panels][Tokens];
            for (int t = 0; t < Tokens; ++t)
                for (int p = 0; p < Panels; ++p)
                    exact[p][t] = Shift ? _mm512_set1_epi32(x[t].shift[x_part]) : _mm512_setzero_si512();
#pragma GCC unroll 8
            for (int k = part * kSteps; k < (part + 1) * kSteps; ++k) {
                __m512i w[Panels];
                for (int p = 0; p < Panels; ++p)
                    w[p] = _mm512_loadu_si512(panels[p].weights(slot) + 64 * k);
                for (int t = 0; t < Tokens; ++t) {
                    const __m512i four = four_of(x[t].q + std::ptrdiff_t(group) * 32 + 4 * k);
                    for (int p = 0; p < Panels; ++p)
                        exact[p][t] = add_byte_products(exact[p][t], w[p], four);
                }
            }
            for (int p = 0; p < Panels; ++p) {
                const __m512 scale = _mm512_loadu_ps(panels[p].scales(slot) + part * kPanelRows);
                for (int t = 0; t < Tokens; ++t)
                    out[p][t] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(exact[p][t]),
                                                _mm512_mul_ps(scale, _mm512_set1_ps(x[t].scale[group])), out[p][t]);
            }
        }
        if constexpr (Offset)
            for (int part = 0; part < Parts; ++part)
                for (int p = 0; p < Panels; ++p) {
                    const __m512 offset = _mm512_loadu_ps(panels[p].offsets(slot) + part * kPanelRows);
                    for (int t = 0; t < Tokens; ++t)
                        out[p][t] = _mm512_fmadd_ps(offset, _mm512_set1_ps(x[t].sum[group * Parts + part]), out[p][t]);
                }
    }
}

/// Joins the running sums and sets out[t * out_stride + r] for the first `rows` rows of the panels.
template <int Panels, int Tokens>
void store_joined(const float (&sums)[kSums][Panels][Tokens][kPanelRows], int rows, float* out, std::size_t out_stride)
{
    for (int p = 0; p < Panels; ++p) {
        const int left = rows - p * kPanelRows;
        const __mmask16 kept = left >= kPanelRows ? __mmask16(0xffff) : __mmask16((1u << left) - 1u);
        for (int t = 0; t < Tokens; ++t) {
            __m512 s[kSums];
            for (int i = 0; i < kSums; ++i)
                s[i] = _mm512_loadu_ps(sums[i][p][t]);
            _mm512_mask_storeu_ps(out + std::size_t(t) * out_stride + p * kPanelRows, kept, join_sums(s));
        }
    }
}

/// Sets out[t * out_stride + r] for the first `rows` rows of the panels.
template <int Parts, bool Shift, bool Offset, int Panels, int Tokens>
void tile(const Panel (&panels)[Panels], int rows, const TokenRow* x, float* out, std::size_t out_stride)
{
    float sums[kSums][Panels][Tokens][kPanelRows];
    for (int s = 0; s < kSums; ++s) {
        __m512 running[Panels][Tokens];
        add_running_sum<Parts, Shift, Offset>(panels, x, s, running);
        for (int p = 0; p < Panels; ++p)
            for (int t = 0; t < Tokens; ++t)
                _mm512_storeu_ps(sums[s][p][t], running[p][t]);
    }
    store_joined(sums, rows, out, out_stride);
}

}  // namespace kernels::avx512
