#include "kernels/cpu/amx/amx.h"
#include "kernels/cpu/amx/tile_products.h"
#include "kernels/cpu/avx512/formats.h"
#include "kernels/cpu/avx512/interleaved_blocks.h"
#include "kernels/cpu/avx512/interleaved_grids.h"
#include "kernels/cpu/avx512/interleaved_super_blocks.h"
#include "kernels/cpu/avx512/interleaved_ternary.h"
#include "kernels/cpu/avx512/slots.h"
#include "kernels/packed_types.h"

#include <cstring>

namespace kernels::amx {

namespace {

template <class Format, class Tiles>
void matmul_packed(const MatMul& m)
{
    if (m.tokens < kTileTokens)
        return avx512::matmul_packed<Format>(m);
    product_by_tiles<avx512::TileKind<Format>, Tiles>(m, avx512::fill_rows<Format>);
}

template <class Format, class Tiles>
void matmul_interleaved(const MatMul& m)
{
    using Rows = typename Format::Rows;
    if (m.tokens < kTileTokens)
        return avx512::matmul_interleaved<Format>(m);
    const int blocks = m.n / 32 / Rows::kGroups;
    const std::ptrdiff_t row_bytes = std::ptrdiff_t(blocks) * Rows::kBytes;
    MatMul whole = m;
    whole.rows = m.rows / kPanelRows * kPanelRows;
    product_by_tiles<avx512::TileKind<Rows>, Tiles>(whole, avx512::unpack_rows<Format>);
    MatMul last = m;  // the rows that are not interleaved
    last.rows = m.rows - whole.rows;
    last.weights += whole.rows * row_bytes;
    last.out += whole.rows;
    matmul_packed<Rows, Tiles>(last);
}

template <class Tiles>
void use_tiles(CpuKernels& t)
{
    const auto packed = [&]<class Interleaved>(TensorType type) {
        t.matmul[std::size_t(type)] = matmul_packed<typename Interleaved::Rows, Tiles>;
        t.matmul_interleaved[std::size_t(type)] = matmul_interleaved<Interleaved, Tiles>;
    };
#define PACKED(Name, ...) packed.template operator()<avx512::Interleaved##Name>(TensorType::Name);
    SPILLWAY_EACH_PACKED_TYPE(PACKED)
#undef PACKED
}

template <int Steps>
bool same_products()
{
    // Bytes of the whole range, of both signs, and no two rows alike.
    std::int8_t activations[kTileTokens][4 * Steps];
    std::byte weights[Steps * kTileRows * 4];
    unsigned next = 1;
    for (auto& token : activations)
        for (std::int8_t& x : token)
            x = std::int8_t((next = next * 1664525u + 1013904223u) >> 24);
    for (std::byte& w : weights)
        w = std::byte((next = next * 1664525u + 1013904223u) >> 24);
    alignas(64) std::int32_t computed[kTileTokens][kTileRows], expected[kTileTokens][kTileRows];
    HardwareTiles().multiply<Steps>(activations[0], sizeof activations[0], weights, computed);
    EmulatedTiles().multiply<Steps>(activations[0], sizeof activations[0], weights, expected);
    return std::memcmp(computed, expected, sizeof expected) == 0;
}

}  // namespace

bool tiles_agree()
{
    return same_products<8>() && same_products<4>();
}

CpuKernels improve(const CpuKernels& base, Tiles tiles)
{
    CpuKernels t = base;
    t.name = "amx";
    if (tiles == Tiles::Hardware)
        use_tiles<HardwareTiles>(t);
    else
        use_tiles<EmulatedTiles>(t);
    return t;
}

}  // namespace kernels::amx
