// Unpacks sixteen rows that were interleaved into a panel for products with many tokens.
#pragma once

#include "kernels/cpu/avx512/panel.h"

#include <utility>

namespace kernels::avx512 {

static_assert(kInterleavedRows == kPanelRows);

// Marks what must be inlined into functions that are [[gnu::flatten]]. GCC does that for all that such a function
// calls, and for what is called there, at once; inlining each call by itself, from the inside out, it takes much
// longer, since it optimises the whole after each. Clang's flatten reaches the function's own calls only, and GCC's
// does nothing without optimisation: then thousands of small functions would be left, more than an object for Windows
// may have.
#if defined(__clang__) || !defined(__OPTIMIZE__)
#define SPILLWAY_INLINED __attribute__((always_inline))
#else
#define SPILLWAY_INLINED
#endif

template <int... I, class Body>
SPILLWAY_INLINED inline void unrolled(std::integer_sequence<int, I...>, const Body& body)
{
    (body.template operator()<I>(), ...);
}
template <int Count, class Body>
SPILLWAY_INLINED inline void unrolled(const Body& body)
{
    unrolled(std::make_integer_sequence<int, Count>(), body);
}

/// Finds the parts of a panel. Byte: const or not
template <class Format, class Byte = const std::byte>
class InterleavedPanel
{
public:
    InterleavedPanel(Byte* at, int blocks)
        : at_(at)
        , blocks_(blocks)
    {
    }
    Byte* halves_of(int block) const { return pair(block) + block % 2 * kHalves; }
    Byte* words_of(int block) const
    {
        const int together = block / 2 * 2 + 1 < blocks_ ? 2 : 1;
        return pair(block) + together * kHalves + block % 2 * kWords;
    }

private:
    static constexpr std::ptrdiff_t kHalves = Format::kHalfBytes * kPanelRows;
    static constexpr std::ptrdiff_t kWords = Format::kWords * 4 * kPanelRows;
    Byte* pair(int block) const { return at_ + block / 2 * 2 * (kHalves + kWords); }

    Byte* at_;
    int blocks_;
};

/// Returns by how many bits too far left a format gives the weights of a chunk's group j.
template <class Format>
constexpr int left_by(int j)
{
    if constexpr (requires { Format::left_by(j); })
        return Format::left_by(j);
    else
        return 0;
}

/// Calls body(step, w) for every step of a chunk; see interleaved_words.h.
template <class Format, int Chunk, class Body>
SPILLWAY_INLINED inline void for_steps(const std::byte* words, const Body& body)
{
    __m512i w[Format::kChunkGroups];
    if constexpr (requires { typename Format::template Prepared<Chunk>; }) {
        const typename Format::template Prepared<Chunk> prepared(words);
        unrolled<Format::kSteps>([&]<int Step>() SPILLWAY_INLINED {
            w[0] = prepared.template weights<Step>();
            body(Step, w);
        });
    } else {
#pragma GCC unroll 8
        for (int step = 0; step < Format::kSteps; ++step) {
            Format::template weights<Chunk>(words, step, w);
            body(step, w);
        }
    }
}

/// Unpacks a panel for products with many tokens.
template <class Format>
[[gnu::flatten]] void unpack(const InterleavedPanel<Format>& from, int blocks, const Panel& to)
{
    using Rows = typename Format::Rows;
    const __m512i rest = _mm512_set1_epi8(char(Rows::kBias == 0 ? 0 : 128 - Rows::kBias));
    for (int block = 0; block < blocks; ++block) {
        const std::byte* words = from.words_of(block);
        const auto scales = Format::scales(from.halves_of(block), words);
        const int first_group = block * Rows::kGroups;
        unrolled<Format::kChunks>([&]<int Chunk>() SPILLWAY_INLINED {
            constexpr int kPart = Format::part_of(Chunk);
            for_steps<Format, Chunk>(words, [&](int step, const __m512i* w) SPILLWAY_INLINED {
                unrolled<Format::kChunkGroups>([&]<int J>() SPILLWAY_INLINED {
                    const int slot = to.shape.slot(first_group + Format::group_of(Chunk, J));
                    const __m512i weights = moved<-left_by<Format>(J)>(w[J]);  // leaves no bits of a neighbour
                    _mm512_storeu_si512(to.weights(slot) + 64 * (4 * kPart + step), _mm512_add_epi8(weights, rest));
                });
            });
            unrolled<Format::kChunkGroups>([&]<int J>() SPILLWAY_INLINED {
                constexpr int kGroup = Format::group_of(Chunk, J);
                const int slot = to.shape.slot(first_group + kGroup);
                _mm512_storeu_ps(to.scales(slot) + kPart * kPanelRows, scales.template scale<kGroup, kPart>());
                if constexpr (Rows::kOffset)
                    _mm512_storeu_ps(to.offsets(slot) + kPart * kPanelRows, scales.template offset<kGroup, kPart>());
            });
        });
    }
}

}  // namespace kernels::avx512
