// Wraps the tile registers of AMX, and does the same in plain C++, so that the code that uses them is also tested on
// machines without AMX. Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, LDTILECFG and
// TDPBSUD.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kernels::amx {

constexpr int kTileTokens = 16;  // rows of a tile
constexpr int kTileRows = 16;    // of weights: columns of a tile of sums

// tmm0: sums (16, 16); tmm1, tmm2: activations (16 tokens, 32) and weights (8, 16 rows x 4); tmm3, tmm4: the same for
// 16 weights of a row instead of 32.
struct HardwareTiles {
    HardwareTiles()
    {
        alignas(64) static constexpr Configuration kShapes = {
            1, 0, {}, {64, 32, 64, 16, 64}, {16, 16, 8, 16, 4},
        };
        __asm__ volatile("ldtilecfg %0" : : "m"(kShapes));
    }
    ~HardwareTiles() { __asm__ volatile("tilerelease"); }
    HardwareTiles(const HardwareTiles&) = delete;
    HardwareTiles& operator=(const HardwareTiles&) = delete;

    /// sums[t][r] = the products of 4 * Steps activations of token t with the weights of row r, Steps 8 or 4.
    /// activations: rows of x_stride bytes; weights: (Steps, 16, 4).
    template <int Steps>
    void multiply(const std::int8_t* activations, std::size_t x_stride, const std::byte* weights,
                  std::int32_t (&sums)[kTileTokens][kTileRows]) const
    {
        if constexpr (Steps == 8)
            __asm__ volatile("tilezero %%tmm0\n\t"
                             "tileloadd (%0,%1,1), %%tmm1\n\t"
                             "tileloadd (%2,%3,1), %%tmm2\n\t"
                             "tdpbsud %%tmm2, %%tmm1, %%tmm0\n\t"
                             "tilestored %%tmm0, (%4,%3,1)"
                             :
                             : "r"(activations), "r"(x_stride), "r"(weights), "r"(kRowBytes), "r"(sums)
                             : "memory");
        else
            __asm__ volatile("tilezero %%tmm0\n\t"
                             "tileloadd (%0,%1,1), %%tmm3\n\t"
                             "tileloadd (%2,%3,1), %%tmm4\n\t"
                             "tdpbsud %%tmm4, %%tmm3, %%tmm0\n\t"
                             "tilestored %%tmm0, (%4,%3,1)"
                             :
                             : "r"(activations), "r"(x_stride), "r"(weights), "r"(kRowBytes), "r"(sums)
                             : "memory");
    }

private:
    static constexpr std::size_t kRowBytes = 64;  // of weights and of sums

    struct Configuration {
        std::uint8_t palette, start_row, reserved[14];
        std::uint16_t row_bytes[16];
        std::uint8_t rows[16];
    };
    static_assert(sizeof(Configuration) == 64);
};

struct EmulatedTiles {
    template <int Steps>
    void multiply(const std::int8_t* activations, std::size_t x_stride, const std::byte* weights,
                  std::int32_t (&sums)[kTileTokens][kTileRows]) const
    {
        for (int t = 0; t < kTileTokens; ++t)
            for (int r = 0; r < kTileRows; ++r) {
                std::int32_t sum = 0;
                for (int k = 0; k < 4 * Steps; ++k)
                    sum += activations[std::size_t(t) * x_stride + std::size_t(k)] *
                           std::to_integer<int>(weights[64 * (k / 4) + 4 * r + k % 4]);
                sums[t][r] = sum;
            }
    }
};

}  // namespace kernels::amx
