// Says how much one launch on a GPU may compute. Windows ends a launch that runs for two seconds, and the device is
// lost with all that it holds; and while a launch runs, a card that also draws the screen draws nothing.
#pragma once

#include "kernels/cuda/ops.h"

#include <algorithm>
#include <cstdint>

namespace engine {

/// No launch is expected to run longer, also where a card is far slower than it should be.
inline constexpr int kLongestLaunchMs = 500;

/// Returns the operations that a launch may have: a product and a sum are two.
inline std::int64_t most_operations(const kernels::cuda::DeviceInfo& gpu)
{
    // Of a multiprocessor, in a cycle. One of 9.0 does 400 to 600 (tests/bench/README.md), and the smallest from 8.0 on
    // has tensor cores for 512. Among those of 7.5 are the GTX 16, which have no tensor cores: their units for floats
    // do 128.
    const int in_a_cycle = gpu.compute_major >= 8 ? 128 : 32;
    constexpr int kUnknownClockKhz = 1'000'000;
    const std::int64_t clock_khz = gpu.clock_khz > 0 ? gpu.clock_khz : kUnknownClockKhz;
    return clock_khz * kLongestLaunchMs * gpu.multiprocessors * in_a_cycle;
}

/// Returns the KV blocks that a launch of attend_many may attend: at least one.
inline int blocks_of_launch(const kernels::cuda::Attention& a, const kernels::cuda::DeviceInfo& gpu)
{
    const kernels::KvBlockLayout& l = a.kv.layout;
    const std::int64_t queries = std::int64_t(a.rows) * a.kv.heads * a.group;
    const std::int64_t operations_of_block = std::max<std::int64_t>(1, 2 * queries * l.tokens * (l.k_dim + l.v_dim));
    const std::int64_t blocks = most_operations(gpu) / operations_of_block;
    return int(std::clamp<std::int64_t>(blocks, 1, 1 << 30));
}

}  // namespace engine
