// Reads sixteen rows side by side of the ternary types.
#pragma once

#include "kernels/cpu/avx512/interleaved_blocks.h"
#include "kernels/cpu/avx512/ternary_formats.h"

namespace kernels::avx512 {

struct InterleavedTQ2_0 {
    using Rows = TQ2_0;
    static constexpr int kHalfAt = 64, kHalfBytes = 2, kWordsAt = 0, kWords = 16;
    static constexpr int kChunks = 2, kChunkGroups = 4, kSteps = 8;
    static constexpr int group_of(int chunk, int j) { return 4 * chunk + j; }
    static constexpr int part_of(int) { return 0; }
    static constexpr int source(int word) { return word; }
    static InterleavedHalves scales(const std::byte* halves, const std::byte*) { return InterleavedHalves(halves); }

    template <int Chunk>
    static void weights(const std::byte* words, int step, __m512i (&w)[kChunkGroups])
    {
        const __m512i pairs = words_at(words, 8 * Chunk + step), two = _mm512_set1_epi8(3);
        w[0] = _mm512_and_si512(pairs, two);
        w[1] = _mm512_and_si512(moved<-2>(pairs), two);
        w[2] = _mm512_and_si512(moved<-4>(pairs), two);
        w[3] = _mm512_and_si512(moved<-6>(pairs), two);
    }
};

struct InterleavedTQ1_0 {
    using Rows = TQ1_0;
    static constexpr int kHalfAt = 52, kHalfBytes = 2, kWordsAt = 0, kWords = 13;
    static constexpr int kChunks = 8, kChunkGroups = 1, kSteps = 8;
    static constexpr int group_of(int chunk, int) { return chunk; }
    static constexpr int part_of(int) { return 0; }
    static constexpr int source(int word) { return word; }
    static InterleavedHalves scales(const std::byte* halves, const std::byte*) { return InterleavedHalves(halves); }

    template <int Chunk>
    struct Prepared {
        const std::byte* words;
        explicit Prepared(const std::byte* of_block)
            : words(of_block)
        {
        }
        template <int Step>
        __m512i weights() const
        {
            if constexpr (Chunk < 5)
                return trits<Chunk>(Step);
            else if constexpr (Chunk < 7 || Step < 4)
                return trits<2 * (Chunk - 5) + Step / 4>(8 + Step % 4);
            else
                return trits<Step - 4>(12);
        }

    private:
        template <int Trit>
        __m512i trits(int word) const
        {
            __m512i bytes = words_at(words, word);
            for (int t = 0; t < Trit; ++t)  // the trits before it overflow
                bytes = _mm512_add_epi8(bytes, _mm512_add_epi8(bytes, bytes));
            return next_trits(bytes);
        }
    };
};

}  // namespace kernels::avx512
