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
    static void weights(const std::byte* words, int step, __m512i (&w)[kChunkGroups])
    {
        if (Chunk < 5)
            w[0] = trits(words, step, Chunk);
        else if (Chunk < 7 || step < 4)
            w[0] = trits(words, 8 + step % 4, 2 * (Chunk - 5) + step / 4);
        else
            w[0] = trits(words, 12, step - 4);
    }

private:
    [[gnu::always_inline]] static __m512i trits(const std::byte* words, int word, int trit)
    {
        __m512i bytes = words_at(words, word);
#pragma GCC unroll 4
        for (int t = 0; t < 4; ++t)
            if (t < trit)  // the trits before it overflow
                bytes = _mm512_add_epi8(bytes, _mm512_add_epi8(bytes, bytes));
        return next_trits(bytes);
    }
};

}  // namespace kernels::avx512
