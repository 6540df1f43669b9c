// Products of packed weights whose rows were interleaved, sixteen at a time. They are summed in the order of
// group_sums.h, as those of rows that were not: the bits are the same.
#include "kernels/cpu/avx512/interleaved_blocks.h"
#include "kernels/cpu/avx512/interleaved_grids.h"
#include "kernels/cpu/avx512/interleaved_panel.h"
#include "kernels/cpu/avx512/interleaved_super_blocks.h"
#include "kernels/cpu/avx512/interleaved_ternary.h"
#include "kernels/cpu/avx512/panel_products.h"
#include "kernels/cpu/avx512/slots.h"
#include "kernels/packed_types.h"

namespace kernels::avx512 {

// A token more, and the sums of a panel do not find room in the registers: the rows are unpacked for all tokens then.
static constexpr int kInterleavedTokens = 2;

template <class Format>
constexpr int kInterleavedParts = Format::Rows::kHalves ? 2 : 1;

// Adds a block to the running sums of its groups; `Turn` is the running sum of its first one.
template <class Format, int Turn, int Tokens>
[[gnu::always_inline]] inline void add_block(const InterleavedPanel<Format>& panel, int block,
                                             const TokenRow (&x)[Tokens], __m512 (&sums)[kSums][Tokens])
{
    using Rows = typename Format::Rows;
    constexpr int kParts = kInterleavedParts<Format>;
    const std::byte* words = panel.words_of(block);
    const auto scales = Format::scales(panel.halves_of(block), words);
    const std::ptrdiff_t first_group = std::ptrdiff_t(block) * Rows::kGroups;

    unrolled<Format::kChunks>([&]<int Chunk>() __attribute__((always_inline)) {
        constexpr int kPart = Format::part_of(Chunk);
        __m512i exact[Format::kChunkGroups][Tokens];
        for (int j = 0; j < Format::kChunkGroups; ++j)
            for (int t = 0; t < Tokens; ++t) {
                const std::ptrdiff_t part = (first_group + Format::group_of(Chunk, j)) * kParts + kPart;
                exact[j][t] = Rows::kBias == 0 ? _mm512_setzero_si512()
                                               : _mm512_set1_epi32(x[t].shift[part] >> shift_down(Rows::kBias));
            }
        for_steps<Format, Chunk>(
            words, [&](int step, const __m512i* w) __attribute__((always_inline)) {
                for (int j = 0; j < Format::kChunkGroups; ++j)
                    for (int t = 0; t < Tokens; ++t) {
                        const std::ptrdiff_t group = first_group + Format::group_of(Chunk, j);
                        const __m512i four = four_of(x[t].q + group * 32 + kPart * 16 + 4 * step);
                        exact[j][t] = add_byte_products(exact[j][t], w[j], four);
                    }
            });
        unrolled<Format::kChunkGroups>([&]<int J>() __attribute__((always_inline)) {
            constexpr int kGroup = Format::group_of(Chunk, J);
            const std::ptrdiff_t group = first_group + kGroup;
            const __m512 scale = scales.template scale<kGroup, kPart>();
            for (int t = 0; t < Tokens; ++t) {
                __m512& sum = sums[(Turn + kGroup) % kSums][t];
                sum = _mm512_fmadd_ps(_mm512_cvtepi32_ps(exact[J][t]),
                                      _mm512_mul_ps(scale, _mm512_set1_ps(x[t].scale[group])), sum);
                if constexpr (Rows::kOffset) {
                    if constexpr (kPart == kParts - 1)
                        unrolled<kParts>([&]<int P>() __attribute__((always_inline)) {
                            sum = _mm512_fmadd_ps(scales.template offset<kGroup, P>(),
                                                  _mm512_set1_ps(x[t].sum[group * kParts + P]), sum);
                        });
                }
            }
        });
    });
}

template <class Format, int Tokens>
static void product_of_panel(const InterleavedPanel<Format>& panel, int blocks, const TokenRow (&x)[Tokens], float* out,
                             std::size_t out_stride)
{
    __m512 sums[kSums][Tokens];
    for (auto& of_tokens : sums)
        for (__m512& sum : of_tokens)
            sum = _mm512_setzero_ps();
    constexpr int kBlocks = kSums / Format::Rows::kGroups;  // a turn of all running sums
    int block = 0;
    for (; block + kBlocks <= blocks; block += kBlocks)
        unrolled<kBlocks>([&]<int I>() __attribute__((always_inline)) {
            add_block<Format, I * Format::Rows::kGroups, Tokens>(panel, block + I, x, sums);
        });
    unrolled<kBlocks - 1>([&]<int I>() __attribute__((always_inline)) {
        if (block + I < blocks)
            add_block<Format, I * Format::Rows::kGroups, Tokens>(panel, block + I, x, sums);
    });
    for (int t = 0; t < Tokens; ++t) {
        __m512 of_token[kSums];
        for (int i = 0; i < kSums; ++i)
            of_token[i] = sums[i][t];
        _mm512_storeu_ps(out + std::size_t(t) * out_stride, join_sums(of_token));
    }
}

template <class Format, int Tokens>
static void product_by_interleaved_rows(const MatMul& m, int panels, std::ptrdiff_t panel_bytes)
{
    const int blocks = m.n / 32 / Format::Rows::kGroups;
    TokenRow x[Tokens];
    for (int t = 0; t < Tokens; ++t)
        x[t] = token_row<typename Format::Rows>(m, t);
    for (int p = 0; p < panels; ++p)
        product_of_panel<Format, Tokens>({m.weights + p * panel_bytes, blocks}, blocks, x, m.out + p * kPanelRows,
                                         m.out_stride);
}

template <class Format>
void matmul_interleaved(const MatMul& m)
{
    using Rows = typename Format::Rows;
    const int blocks = m.n / 32 / Rows::kGroups;
    const int panels = m.rows / kPanelRows;
    const std::ptrdiff_t panel_bytes = std::ptrdiff_t(blocks) * Rows::kBytes * kPanelRows;
    if (m.tokens == 1) {
        product_by_interleaved_rows<Format, 1>(m, panels, panel_bytes);
    } else if (m.tokens == kInterleavedTokens) {
        product_by_interleaved_rows<Format, kInterleavedTokens>(m, panels, panel_bytes);
    } else {
        MatMul whole = m;
        whole.rows = panels * kPanelRows;
        product_by_panels<Rows>(whole, [&](const Panel& panel, int first_row, int) {
            unpack<Format>({m.weights + first_row / kPanelRows * panel_bytes, blocks}, blocks, panel);
        });
    }
    if (const int left = m.rows % kPanelRows; left > 0) {  // these lie as they were
        MatMul last = m;
        last.rows = left;
        last.weights += panels * panel_bytes;
        last.out += panels * kPanelRows;
        matmul_packed<Rows>(last);
    }
}

template <class Format>
void interleave(int n, int rows, const std::byte* weights, std::byte* out)
{
    using Rows = typename Format::Rows;
    const int blocks = n / 32 / Rows::kGroups;
    const std::ptrdiff_t stride = std::ptrdiff_t(blocks) * Rows::kBytes;
    for (; rows >= kPanelRows; rows -= kPanelRows, weights += stride * kPanelRows, out += stride * kPanelRows) {
        const InterleavedPanel<Format, std::byte> panel(out, blocks);
        for (int b = 0; b < blocks; ++b)
            for (int r = 0; r < kPanelRows; ++r) {
                const std::byte* from = weights + r * stride + std::ptrdiff_t(b) * Rows::kBytes;
                if (Format::kHalfBytes > 0)
                    std::memcpy(panel.halves_of(b) + Format::kHalfBytes * r, from + Format::kHalfAt,
                                Format::kHalfBytes);
                for (int w = 0; w < Format::kWords; ++w)
                    std::memcpy(panel.words_of(b) + (w * kPanelRows + r) * 4,
                                from + Format::kWordsAt + 4 * Format::source(w), 4);
            }
    }
    std::memcpy(out, weights, std::size_t(rows * stride));
}

#define INSTANTIATE(Name, ...)                                                                                         \
    template void matmul_interleaved<Interleaved##Name>(const MatMul&);                                                \
    template void interleave<Interleaved##Name>(int, int, const std::byte*, std::byte*);
SPILLWAY_EACH_PACKED_TYPE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace kernels::avx512
