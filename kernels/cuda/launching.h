// Turns what the engine says of memory into what kernels are given; for launchers.
#pragma once

#include "kernels/cuda/next_read.h"
#include "kernels/cuda/ops.h"
#include "kernels/cuda/prepare_heads.h"
#include "kernels/cuda/rounded_rows.h"

#include <algorithm>
#include <cstdint>

namespace kernels::cuda {

template <class T>
T* pointer(DevicePtr at)
{
    return reinterpret_cast<T*>(static_cast<std::uintptr_t>(at));
}

inline RoundedRows rounded_rows(const Rounded& to)
{
    return {pointer<std::byte>(to.rows.at), pointer<std::byte>(to.residual), to.rows.stride};
}

/// Divides what a launch asks for among its last thread blocks, as many as the device runs at once. The others ask for
/// nothing, since the launch's own weights are still being read when they end. blocks: how many the launch has;
/// at_once: how many a multiprocessor runs at once
inline NextRead next_read(const Driver& driver, const NextWeights& next, unsigned blocks, int at_once)
{
    constexpr unsigned kLine = 128;
    const auto share_of_cache = std::size_t(driver.info().l2_bytes) / 4;  // the rest is the running launch's
    const unsigned bytes = unsigned(std::min(next.bytes, share_of_cache)) / 16 * 16;
    const unsigned last = std::min(blocks, unsigned(at_once * driver.info().multiprocessors));
    if (bytes == 0 || last == 0)
        return {};
    const unsigned lines = (bytes + kLine - 1) / kLine;
    return {pointer<std::byte>(next.at), bytes, (lines + last - 1) / last * kLine, blocks - last};
}

inline bool can_prepare(const KvBlocks& kv, const PreparedHeads& p)
{
    return kv.layout.k_dim % 4 == 0 && kv.layout.v_dim % 4 == 0 && 2 * p.pairs <= kv.layout.k_dim;
}

inline PrepareArguments prepare_arguments(const KvBlocks& kv, const PreparedHeads& p)
{
    return {
        .layout = kv.layout,
        .heads = p.heads,
        .kv_heads = kv.heads,
        .q = pointer<float>(p.q),
        .k = pointer<float>(p.k),
        .v = pointer<float>(p.v),
        .stride = p.stride,
        .q_norm = pointer<float>(p.q_norm),
        .k_norm = pointer<float>(p.k_norm),
        .v_norm = pointer<float>(p.v_norm),
        .epsilon = p.epsilon,
        .cos = pointer<float>(p.cos),
        .sin = pointer<float>(p.sin),
        .pairs = p.pairs,
        .neox = p.order == RopePairs::Halves,
        .blocks = pointer<std::uint64_t>(kv.blocks),
        .first = pointer<int>(p.first),
    };
}

}  // namespace kernels::cuda
