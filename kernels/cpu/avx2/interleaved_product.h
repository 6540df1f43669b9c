// Multiplies weights whose rows were interleaved with 8-bit activations, in the order of packed_product.h: the bits are
// the same. With few tokens, eight groups (a turn of the running sums) are multiplied with all tokens before the next
// eight, so that each byte of the weights is read from memory once. Every four tokens unpack them anew, in registers:
// keeping them unpacked in the first cache takes longer. With many tokens the whole panel is unpacked first.
#pragma once

#include "kernels/cpu/avx2/interleaved_rows.h"
#include "kernels/cpu/avx2/packed_product.h"

namespace kernels::avx2 {

constexpr int kTokensAtOnce = 16;
// A panel is prefetched this far ahead: unpacking and products keep the processor from reading ahead by itself.
constexpr std::ptrdiff_t kReadAheadBytes = 4096;

inline void read_ahead(const std::byte* at, std::ptrdiff_t bytes)
{
#pragma GCC unroll 8
    for (std::ptrdiff_t line = 0; line < bytes; line += 64)
        _mm_prefetch(reinterpret_cast<const char*>(at + kReadAheadBytes + line), _MM_HINT_T0);
}

/// Calls body<count>(first) for runs of four tokens. The last run has up to six, since a run of its own for those that
/// are left would unpack everything once more.
template <class Body>
inline void for_runs_that_unpack(int tokens, const Body& body)
{
    constexpr int kMost = 6;
    int first = 0;
    for (; tokens - first > kMost; first += kTileTokens)
        body.template operator()<kTileTokens>(first);
    for_token_runs<kMost>(tokens - first, [&]<int Tokens>(int) { body.template operator()<Tokens>(first); });
}

/// Adds a turn of the running sums: eight groups, fewer at the end of a row. With `ahead` it prefetches later blocks.
template <class Format, class Products, int Tokens>
[[gnu::noinline]] void add_turn(const std::byte* rows, int blocks, GroupScales scales, bool ahead, TokenRow x,
                                std::ptrdiff_t stride, __m256* sums)
{
    using Rows = typename Format::Rows;
    using Kind = TileKind<Rows, Products>;
    constexpr int kParts = Kind::kParts, kTogether = Format::kTogether;
    constexpr int kScales = kTogether * kParts * kPanelRows;
    constexpr std::ptrdiff_t kGroupBytes = std::ptrdiff_t(Rows::kBytes) * kPanelRows / Rows::kGroups;
    for (int block = 0; block < blocks; ++block, rows += Rows::kGroups * kGroupBytes)
        for (int group = 0; group < Rows::kGroups; group += kTogether) {
            if (ahead)
                read_ahead(rows + group * kGroupBytes, kTogether * kGroupBytes);
            add_groups<Kind, Products, Format, Tokens>({words_of<Format>(rows, group), scales.scale, scales.offset}, x,
                                                       stride, sums);
            scales = {scales.scale + kScales, scales.offset + kScales};
            x = groups_from(x, kTogether, kParts);
            sums += kTogether;
        }
}

/// Multiplies eight rows with at most kTokensAtOnce tokens into out[t * out_stride + r].
template <class Format, class Products>
void product_of_rows(const MatMul& m, const std::byte* rows, float* out)
{
    using Rows = typename Format::Rows;
    constexpr int kParts = Rows::kHalves ? 2 : 1, kBlocks = kSums / Rows::kGroups;
    constexpr int kScales = Rows::kGroups * kParts * kPanelRows;  // of a block
    constexpr std::ptrdiff_t kBytes = std::ptrdiff_t(Rows::kBytes) * kPanelRows;
    const int blocks = m.n / 32 / Rows::kGroups;
    const TokenRow first_token = token_row<Rows>(m, 0);
    const auto stride = std::ptrdiff_t(m.x_stride);
    alignas(32) float scales[kBlocks * kScales], offsets[kBlocks * kScales];
    __m256 sums[kTokensAtOnce][kSums];
    for (int t = 0; t < m.tokens; ++t)
        for (__m256& sum : sums[t])
            sum = _mm256_setzero_ps();
    for (int first = 0; first < blocks; first += kBlocks, rows += kBlocks * kBytes) {
        const int count = first + kBlocks < blocks ? kBlocks : blocks - first;
        for (int b = 0; b < count; ++b)
            unpack_scales<Format>(rows + b * kBytes, {scales + b * kScales, offsets + b * kScales});
        const TokenRow x = groups_from(first_token, std::ptrdiff_t(first) * Rows::kGroups, kParts);
        for_runs_that_unpack(m.tokens, [&]<int Tokens>(int token) {
            const TokenRow of_run{of_token(x.q, stride, token), of_token(x.scale, stride, token),
                                  of_token(x.sum, stride, token), of_token(x.shift, stride, token)};
            add_turn<Format, Products, Tokens>(rows, count, {scales, offsets}, token == 0, of_run, stride, sums[token]);
        });
    }
    for (int t = 0; t < m.tokens; ++t)
        _mm256_storeu_ps(out + std::size_t(t) * m.out_stride, joined(sums[t]));
}

template <class Format, class Products>
void matmul_interleaved(const MatMul& m)
{
    using Rows = typename Format::Rows;
    constexpr int kParts = Rows::kHalves ? 2 : 1;
    const int groups = m.n / 32, blocks = groups / Rows::kGroups;
    const std::ptrdiff_t stride = std::ptrdiff_t(blocks) * Rows::kBytes;
    const int whole = m.rows / kPanelRows * kPanelRows;
    if (m.tokens <= kTokensAtOnce) {
        for (int r = 0; r < whole; r += kPanelRows)
            product_of_rows<Format, Products>(m, m.weights + r * stride, m.out + r);
    } else {
        const Panel panel{groups, kParts, thread_scratch(Panel::bytes(groups, kParts))};
        for (int r = 0; r < whole; r += kPanelRows) {
            unpack_interleaved<Format>(m.weights + r * stride, panel);
            product_with_panel<TileKind<Rows, Products>, Products>(m, panel, kPanelRows, m.out + r);
        }
    }
    if (whole < m.rows) {  // the rows that are not interleaved
        MatMul last = m;
        last.rows -= whole;
        last.weights += whole * stride;
        last.out += whole;
        matmul_packed<Rows, Products>(last);
    }
}

/// See CpuKernels::interleave.
template <class Format>
void interleave(int n, int rows, const std::byte* weights, std::byte* out)
{
    using Rows = typename Format::Rows;
    const int blocks = n / 32 / Rows::kGroups;
    const std::ptrdiff_t stride = std::ptrdiff_t(blocks) * Rows::kBytes;
    for (; rows >= kPanelRows; rows -= kPanelRows, weights += stride * kPanelRows)
        for (int block = 0; block < blocks; ++block) {
            const std::byte* const at = weights + std::ptrdiff_t(block) * Rows::kBytes;
            for (int i = 0; i < Format::kHalves; ++i)
                for (int r = 0; r < kPanelRows; ++r, out += 2)
                    std::memcpy(out, at + r * stride + Format::half_at(i), 2);
            for (int i = 0; i < Format::kWords; ++i)
                for (int r = 0; r < kPanelRows; ++r, out += 4) {
                    const std::uint32_t word = Format::word(at + r * stride, i);
                    std::memcpy(out, &word, sizeof word);
                }
        }
    std::memcpy(out, weights, std::size_t(rows * stride));
}

}  // namespace kernels::avx2
