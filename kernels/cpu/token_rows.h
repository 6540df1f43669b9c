// Reads a product's tokens: their rounded activations with the sums that a format needs, and as many tokens at a time
// as registers allow. Functions that are not templates on a type of one instruction set are always inlined: see
// kernels/CMakeLists.txt.
#pragma once

#include "kernels/cpu.h"

#include <cstring>
#include <utility>

namespace kernels {

/// One token's activations, or some groups of them.
struct TokenRow {
    const std::int8_t* q;
    const float* scale;
    const float* sum;           // of 32, or of 16
    const std::int32_t* shift;  // of 32, or of 16

    /// Returns the row from group 8 * chunk on. parts: how many sums and shifts a group has.
    [[gnu::always_inline]] TokenRow at(std::ptrdiff_t chunk, int parts) const
    {
        return {q + 256 * chunk, scale + 8 * chunk, sum + 8 * parts * chunk, shift + 8 * parts * chunk};
    }
};

/// The last groups of a token's row where they are fewer than eight, padded with zeros.
struct TokenTail {
    std::int8_t q[256];
    float scale[8];
    float sum[16];
    std::int32_t shift[16];

    [[gnu::always_inline]] void fill(const TokenRow& x, int parts, int groups)
    {
        std::memset(this, 0, sizeof *this);
        std::memcpy(q, x.q, std::size_t(groups) * 32);
        std::memcpy(scale, x.scale, std::size_t(groups) * 4);
        std::memcpy(sum, x.sum, std::size_t(groups * parts) * 4);
        std::memcpy(shift, x.shift, std::size_t(groups * parts) * 4);
    }
    [[gnu::always_inline]] TokenRow row() const { return {q, scale, sum, shift}; }
};

/// Returns the row of token t. Its sums and shifts are of 16 where the format's scales cover 16 weights (kHalves).
template <class Format>
inline TokenRow token_row(const MatMul& m, int t)
{
    const Q8Row row(m.x + std::size_t(t) * m.x_stride, m.n);
    return {row.q, row.scale, Format::kHalves ? row.sum16 : row.sum32, Format::kHalves ? row.shift16 : row.shift32};
}

/// Calls body<count>(first) for runs of Most tokens, then for the run of those that are left.
template <int Most, class Body>
inline void for_token_runs(int tokens, const Body& body)
{
    int first = 0;
    for (; tokens - first >= Most; first += Most)
        body.template operator()<Most>(first);
    const auto rest = [&]<int... Less>(std::integer_sequence<int, Less...>)
    {
        (void)((tokens - first == Less + 1 && (body.template operator()<Less + 1>(first), true)) || ...);
    };
    rest(std::make_integer_sequence<int, Most - 1>());
}

}  // namespace kernels
