// Products of packed weights whose rows were interleaved, sixteen at a time. They are summed in the order of
// group_sums.h, as those of rows that were not: the bits are the same.
#include "kernels/cpu/avx512/interleaved_blocks.h"
#include "kernels/cpu/avx512/interleaved_grids.h"
#include "kernels/cpu/avx512/interleaved_panel.h"
#include "kernels/cpu/avx512/interleaved_super_blocks.h"
#include "kernels/cpu/avx512/interleaved_ternary.h"
#include "kernels/cpu/avx512/panel_products.h"
#include "kernels/cpu/avx512/slots.h"
#include "kernels/cpu/read_ahead.h"
#include "kernels/packed_types.h"

namespace kernels::avx512 {

// Up to this many tokens are multiplied while a panel is read once; for more tokens the panel is unpacked first.
static constexpr int kTokensAtOnce = 16;
// A panel is prefetched this far ahead: unpacking and products keep the processor from reading ahead by itself.
static constexpr std::ptrdiff_t kReadAheadBytes = 4096;

template <class Format>
constexpr TensorType kTypeOf = TensorType::F32;
#define TYPE_OF(Name, ...)                                                                                             \
    template <>                                                                                                        \
    constexpr TensorType kTypeOf<Interleaved##Name> = TensorType::Name;
SPILLWAY_EACH_PACKED_TYPE(TYPE_OF)
#undef TYPE_OF

/// How many tokens are multiplied with weights while these are in registers, which also hold each token's exact sums.
template <class Format>
constexpr int kRunTokens = Format::kChunkGroups > 2 ? 3 : 4;

template <class Format>
constexpr int kInterleavedParts = Format::Rows::kHalves ? 2 : 1;

/// Running sums of a panel with a few tokens.
template <int Tokens>
class SumsInRegisters
{
public:
    SumsInRegisters()
    {
        for (auto& of_tokens : sums_)
            for (__m512& sum : of_tokens)
                sum = _mm512_setzero_ps();
    }
    template <class Add>
    SPILLWAY_INLINED void add(int sum, int token, const Add& add)
    {
        sums_[sum][token] = add(sums_[sum][token]);
    }
    __m512 joined(int token) const
    {
        __m512 of_token[kSums];
        for (int i = 0; i < kSums; ++i)
            of_token[i] = sums_[i][token];
        return join_sums(of_token);
    }

private:
    __m512 sums_[kSums][Tokens];
};

/// Running sums with more tokens, in the first cache: (kSums, kTokensAtOnce, kPanelRows), from one token and sum on.
class SumsInMemory
{
public:
    explicit SumsInMemory(float* at)
        : at_(at)
    {
    }
    template <class Add>
    SPILLWAY_INLINED void add(int sum, int token, const Add& add) const
    {
        float* const at = at_of(sum, token);
        _mm512_store_ps(at, add(_mm512_load_ps(at)));
    }
    __m512 joined(int token) const
    {
        __m512 of_token[kSums];
        for (int i = 0; i < kSums; ++i)
            of_token[i] = _mm512_load_ps(at_of(i, token));
        return join_sums(of_token);
    }
    void clear(int tokens) const
    {
        for (int sum = 0; sum < kSums; ++sum)
            for (int t = 0; t < tokens; ++t)
                _mm512_store_ps(at_of(sum, t), _mm512_setzero_ps());
    }
    [[gnu::always_inline]] SumsInMemory from(int sum, int token) const { return SumsInMemory(at_of(sum, token)); }

private:
    [[gnu::always_inline]] float* at_of(int sum, int token) const
    {
        return at_ + (sum * kTokensAtOnce + token) * kPanelRows;
    }
    float* at_;
};

/// Returns what exact sums begin with: the part's shift, which was made for a bias of 128, converted to this bias and
/// moved left.
template <class Format, int Left>
[[gnu::always_inline]] inline __m512i exact_start(const TokenRow& x, std::ptrdiff_t part)
{
    if constexpr (Format::Rows::kBias == 0)
        return _mm512_setzero_si512();
    constexpr int kDown = shift_down(Format::Rows::kBias) - Left;
    const __m512i shift = _mm512_set1_epi32(x.shift[part]);
    return kDown >= 0 ? _mm512_srai_epi32(shift, unsigned(kDown)) : _mm512_slli_epi32(shift, unsigned(-kDown));
}

/// Adds a group's offsets times `sums`, the sums of its parts' activations. It is a function of its own, since in a
/// lambda within a lambda clang 14 also compiles what `if constexpr` leaves out.
template <class Format, int Group, class Scales>
SPILLWAY_INLINED inline __m512 add_offsets(__m512 sum, const Scales& scales, const float* sums)
{
    if constexpr (Format::Rows::kOffset)
        unrolled<kInterleavedParts<Format>>([&]<int P>() SPILLWAY_INLINED {
            sum = _mm512_fmadd_ps(scales.template offset<Group, P>(), _mm512_set1_ps(sums[P]), sum);
        });
    return sum;
}

// Adds a block to the running sums of its groups; `Turn` is the running sum of its first one.
template <class Format, int Turn, int Tokens, class Sums>
SPILLWAY_INLINED inline void add_block(const InterleavedPanel<Format>& panel, int block, const TokenRow* x, Sums& sums)
{
    using Rows = typename Format::Rows;
    constexpr int kParts = kInterleavedParts<Format>;
    const std::byte* words = panel.words_of(block);
    const auto scales = Format::scales(panel.halves_of(block), words);
    const std::ptrdiff_t first_group = std::ptrdiff_t(block) * Rows::kGroups;

    unrolled<Format::kChunks>([&]<int Chunk>() SPILLWAY_INLINED {
        constexpr int kPart = Format::part_of(Chunk);
        __m512i exact[Format::kChunkGroups][Tokens];
        unrolled<Format::kChunkGroups>([&]<int J>() SPILLWAY_INLINED {
            const std::ptrdiff_t part = (first_group + Format::group_of(Chunk, J)) * kParts + kPart;
            for (int t = 0; t < Tokens; ++t)
                exact[J][t] = exact_start<Format, left_by<Format>(J)>(x[t], part);
        });
        for_steps<Format, Chunk>(words, [&](int step, const __m512i* w) SPILLWAY_INLINED {
            for (int j = 0; j < Format::kChunkGroups; ++j)
                for (int t = 0; t < Tokens; ++t) {
                    const std::ptrdiff_t group = first_group + Format::group_of(Chunk, j);
                    exact[j][t] = add_byte_products(exact[j][t], w[j], x[t].q + group * 32 + kPart * 16 + 4 * step);
                }
        });
        unrolled<Format::kChunkGroups>([&]<int J>() SPILLWAY_INLINED {
            constexpr int kGroup = Format::group_of(Chunk, J);
            const std::ptrdiff_t group = first_group + kGroup;
            const __m512 scale = scales.template scale<kGroup, kPart>();
            for (int t = 0; t < Tokens; ++t)
                sums.add((Turn + kGroup) % kSums, t, [&](__m512 sum) SPILLWAY_INLINED {
                    const __m512i products = left_by<Format>(J) == 0
                                                 ? exact[J][t]
                                                 : _mm512_srai_epi32(exact[J][t], unsigned(left_by<Format>(J)));
                    sum = _mm512_fmadd_ps(_mm512_cvtepi32_ps(products),
                                          _mm512_mul_ps(scale, _mm512_set1_ps(x[t].scale[group])), sum);
                    if constexpr (kPart == kParts - 1)
                        sum = add_offsets<Format, kGroup>(sum, scales, x[t].sum + group * kParts);
                    return sum;
                });
        });
    });
}

template <class Format, int Tokens>
[[gnu::flatten]] static void product_of_panel(const InterleavedPanel<Format>& panel, int blocks, const TokenRow* x,
                                              float* out, std::size_t out_stride)
{
    SumsInRegisters<Tokens> sums;
    const bool ahead = !slower_for_reading_ahead[std::size_t(kTypeOf<Format>)].load(std::memory_order_relaxed);
    constexpr std::ptrdiff_t kBlockBytes = std::ptrdiff_t(Format::Rows::kBytes) * kPanelRows;
    constexpr int kBlocks = kSums / Format::Rows::kGroups;  // a turn of all running sums
    int block = 0;
    for (; block + kBlocks <= blocks; block += kBlocks)
        unrolled<kBlocks>([&]<int I>() SPILLWAY_INLINED {
            if (ahead)
                read_soon(panel.words_of(block + I) + kReadAheadBytes, kBlockBytes);
            add_block<Format, I * Format::Rows::kGroups, Tokens>(panel, block + I, x, sums);
        });
    unrolled<kBlocks - 1>([&]<int I>() SPILLWAY_INLINED {
        if (block + I < blocks)
            add_block<Format, I * Format::Rows::kGroups, Tokens>(panel, block + I, x, sums);
    });
    for (int t = 0; t < Tokens; ++t)
        _mm512_storeu_ps(out + std::size_t(t) * out_stride, sums.joined(t));
}

/// Adds the blocks of one turn of the running sums, from `first` on, for a run of tokens.
template <class Format, int Tokens>
[[gnu::noinline, gnu::flatten]] static void add_turn(const InterleavedPanel<Format>& panel, int first, int blocks,
                                                     const TokenRow* x, const SumsInMemory& sums)
{
    for (int i = 0; i < blocks; ++i) {
        const SumsInMemory of_block = sums.from(i * Format::Rows::kGroups, 0);
        add_block<Format, 0, Tokens>(panel, first + i, x, of_block);
    }
}

/// Multiplies a panel with runs of tokens, as even in length as possible; each run reads the blocks of a turn again,
/// from the first cache.
template <class Format>
static void product_of_panel_by_runs(const InterleavedPanel<Format>& panel, int blocks, const TokenRow* x, int tokens,
                                     float* out, std::size_t out_stride)
{
    alignas(64) float memory[kSums * kTokensAtOnce * kPanelRows];
    const SumsInMemory sums(memory);
    sums.clear(tokens);
    for (int t = 0; t < tokens; ++t)  // a store that waits would hold up those of the sums
        _mm_prefetch(reinterpret_cast<const char*>(out + std::size_t(t) * out_stride), _MM_HINT_T0);
    const int runs = (tokens + kRunTokens<Format> - 1) / kRunTokens<Format>;
    constexpr int kBlocks = kSums / Format::Rows::kGroups;
    constexpr std::ptrdiff_t kTurnBytes = std::ptrdiff_t(kBlocks) * Format::Rows::kBytes * kPanelRows;
    for (int block = 0; block < blocks; block += kBlocks) {
        const int turn = blocks - block < kBlocks ? blocks - block : kBlocks;
        read_ahead(panel.words_of(block) + kReadAheadBytes, kTurnBytes);
        for (int run = 0, first = 0; run < runs; ++run) {
            const int count = (tokens - first + runs - run - 1) / (runs - run);
            const SumsInMemory of_run = sums.from(0, first);
            if (count == kRunTokens<Format>)
                add_turn<Format, kRunTokens<Format>>(panel, block, turn, x + first, of_run);
            else if (count == 2)
                add_turn<Format, 2>(panel, block, turn, x + first, of_run);
            else
                add_turn<Format, 3>(panel, block, turn, x + first, of_run);
            first += count;
        }
    }
    for (int t = 0; t < tokens; ++t)
        _mm512_storeu_ps(out + std::size_t(t) * out_stride, sums.joined(t));
}

/// Calls product(panel, x, out) for every panel of rows; x: the rows of all tokens.
template <class Format, class Product>
static void for_panels(const MatMul& m, int panels, std::ptrdiff_t panel_bytes, const Product& product)
{
    const int blocks = m.n / 32 / Format::Rows::kGroups;
    TokenRow x[kTokensAtOnce];
    for (int t = 0; t < m.tokens; ++t)
        x[t] = token_row<typename Format::Rows>(m, t);
    for (int p = 0; p < panels; ++p)
        product(InterleavedPanel<Format>(m.weights + p * panel_bytes, blocks), blocks, x, m.out + p * kPanelRows);
}

template <class Format>
void unpack_rows(const MatMul& m, int first_row, int, const Panel& panel)
{
    const int blocks = m.n / 32 / Format::Rows::kGroups;
    const std::ptrdiff_t row_bytes = std::ptrdiff_t(blocks) * Format::Rows::kBytes;
    unpack<Format>({m.weights + first_row * row_bytes, blocks}, blocks, panel);
}

template <class Format>
void matmul_interleaved(const MatMul& m)
{
    using Rows = typename Format::Rows;
    const int blocks = m.n / 32 / Rows::kGroups;
    const int panels = m.rows / kPanelRows;
    const std::ptrdiff_t panel_bytes = std::ptrdiff_t(blocks) * Rows::kBytes * kPanelRows;
    using Panel16 = InterleavedPanel<Format>;
    if (m.tokens == 1) {
        for_panels<Format>(m, panels, panel_bytes, [&](const Panel16& panel, int n, const TokenRow* x, float* out) {
            product_of_panel<Format, 1>(panel, n, x, out, m.out_stride);
        });
    } else if (m.tokens == 2) {
        for_panels<Format>(m, panels, panel_bytes, [&](const Panel16& panel, int n, const TokenRow* x, float* out) {
            product_of_panel<Format, 2>(panel, n, x, out, m.out_stride);
        });
    } else if (m.tokens <= kTokensAtOnce) {
        for_panels<Format>(m, panels, panel_bytes, [&](const Panel16& panel, int n, const TokenRow* x, float* out) {
            product_of_panel_by_runs<Format>(panel, n, x, m.tokens, out, m.out_stride);
        });
    } else {
        MatMul whole = m;
        whole.rows = panels * kPanelRows;
        product_by_panels<TileKind<Rows>>(whole, unpack_rows<Format>);
    }
    if (const int left = m.rows % kPanelRows; left > 0) {  // the rows that are not interleaved
        MatMul last = m;
        last.rows = left;
        last.weights += panels * panel_bytes;
        last.out += panels * kPanelRows;
        matmul_packed<Rows>(last);
    }
}

/// Returns word w of an interleaved block, made from the words that the block has in the file.
template <class Format>
static std::uint32_t word_of_file(const std::byte* words, int w)
{
    if constexpr (requires { Format::rearranged(words, w); })
        return Format::rearranged(words, w);
    else
        return word_at<std::uint32_t>(words + 4 * Format::source(w));
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
                for (int w = 0; w < Format::kWords; ++w) {
                    const std::uint32_t word = word_of_file<Format>(from + Format::kWordsAt, w);
                    std::memcpy(panel.words_of(b) + (w * kPanelRows + r) * 4, &word, sizeof word);
                }
            }
    }
    std::memcpy(out, weights, std::size_t(rows * stride));
}

#define INSTANTIATE(Name, ...)                                                                                         \
    template void matmul_interleaved<Interleaved##Name>(const MatMul&);                                                \
    template void unpack_rows<Interleaved##Name>(const MatMul&, int, int, const Panel&);                               \
    template void interleave<Interleaved##Name>(int, int, const std::byte*, std::byte*);
SPILLWAY_EACH_PACKED_TYPE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace kernels::avx512
