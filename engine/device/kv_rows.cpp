#include "engine/device/kv_rows.h"

#include <algorithm>
#include <cstring>

namespace engine {

namespace {

using kernels::kKvGroupTokens;
using kernels::kKvGroupValues;
using kernels::KvBlockLayout;
using kernels::KvType;

/// Keys lie interleaved by groups of tokens: of a whole group one piece, of a part of it one piece per four values.
void copy_keys(const KvBlockLayout& layout, const std::byte* from, std::byte* to, int first, int last)
{
    const std::size_t value_bytes = kernels::kv_value_bytes(layout.k_type);
    for (int t = first; t < last;) {
        const int group_end = std::min(last, (t / kKvGroupTokens + 1) * kKvGroupTokens);
        const int count = group_end - t;
        const int pieces = count == kKvGroupTokens ? 1 : layout.k_dim / kKvGroupValues;
        const std::size_t values = std::size_t(count) * std::size_t(pieces == 1 ? layout.k_dim : kKvGroupValues);
        for (int piece = 0; piece < pieces; ++piece) {
            const std::size_t at = layout.k_index(t, piece * kKvGroupValues) * value_bytes;
            std::memcpy(to + at, from + at, values * value_bytes);
        }
        t = group_end;
    }
}

void copy_range(const std::byte* from, std::byte* to, std::size_t offset, std::size_t row_bytes, int first, int last)
{
    const std::size_t at = offset + std::size_t(first) * row_bytes;
    std::memcpy(to + at, from + at, std::size_t(last - first) * row_bytes);
}

}  // namespace

std::size_t KvRows::bytes() const
{
    return std::size_t(kv_heads) * std::size_t(last - first) * layout.token_bytes();
}

void copy_kv_rows(const KvRows& rows)
{
    const KvBlockLayout& layout = rows.layout;
    for (int head = 0; head < rows.kv_heads; ++head) {
        const std::byte* const from = rows.from + std::size_t(head) * layout.bytes();
        std::byte* const to = rows.to + std::size_t(head) * layout.bytes();
        copy_keys(layout, from, to, rows.first, rows.last);
        if (layout.k_type == KvType::Q8_0)
            copy_range(from, to, layout.k_scales_offset(), sizeof(float), rows.first, rows.last);
        if (layout.values_in_keys)
            continue;
        copy_range(from, to, layout.v_offset(), std::size_t(layout.v_dim) * kernels::kv_value_bytes(layout.v_type),
                   rows.first, rows.last);
        if (layout.v_type == KvType::Q8_0)
            copy_range(from, to, layout.v_scales_offset(), sizeof(float), rows.first, rows.last);
    }
}

}  // namespace engine
