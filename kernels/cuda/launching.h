// Turns what the engine says of memory into what kernels are given; for launchers.
#pragma once

#include "kernels/cuda/ops.h"
#include "kernels/cuda/prepare_heads.h"
#include "kernels/cuda/rounded_rows.h"

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
