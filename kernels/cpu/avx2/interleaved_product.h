// Multiplies weights whose rows were interleaved with 8-bit activations, in the order of packed_product.h: the bits are
// the same. Few tokens: one turn of the running sums after another is unpacked into the first cache and serves them
// all, so that each byte of the weights is read and unpacked once. Many: the whole panel is.
#pragma once

#include "kernels/cpu/avx2/interleaved_rows.h"
#include "kernels/cpu/avx2/packed_product.h"

namespace kernels::avx2 {

constexpr int kTokensAtOnce = 16;
// So far ahead a panel is asked for: unpacking and products keep the processor from seeing what it reads next.
constexpr std::ptrdiff_t kReadAheadBytes = 4096;

inline void read_ahead(const std::byte* at, std::ptrdiff_t bytes)
{
    for (std::ptrdiff_t line = 0; line < bytes; line += 64)
        _mm_prefetch(reinterpret_cast<const char*>(at + kReadAheadBytes + line), _MM_HINT_T0);
}

/// A turn of the running sums of eight rows, unpacked: its groups lie one after another.
template <class Rows>
struct UnpackedTurn {
    static constexpr int kParts = Rows::kHalves ? 2 : 1;
    int groups;
    alignas(64) std::byte bytes[kSums * (32 + 2 * kParts * sizeof(float)) * kPanelRows];

    Panel panel() { return {groups, kParts, bytes}; }
};

/// Adds a turn to the sums (tokens, kSums) of some tokens. `x`: the first one's groups of the turn.
template <class Rows, class Products, int Tokens>
[[gnu::noinline]] void add_turn(UnpackedTurn<Rows>& turn, TokenRow x, std::ptrdiff_t stride, __m256 (*sums)[kSums])
{
    constexpr int kParts = UnpackedTurn<Rows>::kParts;
    const Panel panel = turn.panel();
    PanelGroup w{panel.weights(0), panel.scales(0), panel.offsets(0)};
    for (int s = 0; s < turn.groups; ++s) {
        __m256 sum[Tokens];
#pragma GCC unroll 8
        for (int t = 0; t < Tokens; ++t)
            sum[t] = sums[t][s];
        add_group<Rows, Products, Tokens>(w, x, stride, sum);
#pragma GCC unroll 8
        for (int t = 0; t < Tokens; ++t)
            sums[t][s] = sum[t];
        w = {w.weights + 32 * kPanelRows, w.scales + kParts * kPanelRows, w.offsets + kParts * kPanelRows};
        x = groups_from(x, 1, kParts);
    }
}

/// Eight rows with at most kTokensAtOnce tokens; out[t * out_stride + r].
template <class Format, class Products>
void product_of_rows(const MatMul& m, const std::byte* rows, float* out)
{
    using Rows = typename Format::Rows;
    constexpr int kParts = UnpackedTurn<Rows>::kParts, kBlocks = kSums / Rows::kGroups;
    const int blocks = m.n / 32 / Rows::kGroups;
    const TokenRow first_token = token_row<Rows>(m, 0);
    const auto stride = std::ptrdiff_t(m.x_stride);
    UnpackedTurn<Rows> turn;
    __m256 sums[kTokensAtOnce][kSums];
    for (int t = 0; t < m.tokens; ++t)
        for (__m256& sum : sums[t])
            sum = _mm256_setzero_ps();
    for (int block = 0; block < blocks; block += kBlocks) {
        const int end = block + kBlocks < blocks ? block + kBlocks : blocks;
        read_ahead(rows + std::ptrdiff_t(block) * Rows::kBytes * kPanelRows,
                   std::ptrdiff_t(kBlocks) * Rows::kBytes * kPanelRows);
        turn.groups = (end - block) * Rows::kGroups;
        unpack_interleaved<Format>(rows, block, end, turn.panel());
        const TokenRow x = groups_from(first_token, std::ptrdiff_t(block) * Rows::kGroups, kParts);
        for_token_runs<kTileTokens>(m.tokens, [&]<int Tokens>(int first) {
            const TokenRow of_run{of_token(x.q, stride, first), of_token(x.scale, stride, first),
                                  of_token(x.sum, stride, first), of_token(x.shift, stride, first)};
            add_turn<Rows, Products, Tokens>(turn, of_run, stride, sums + first);
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
            unpack_interleaved<Format>(m.weights + r * stride, 0, blocks, panel);
            product_with_panel<Rows, Products>(m, panel, kPanelRows, m.out + r);
        }
    }
    if (whole < m.rows) {  // these lie as they were
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
