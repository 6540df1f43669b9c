// Splits floats into two halves each, for tensor cores: what a half keeps of a float, and what it loses. 32 floats of a
// row share a power of two, under which none of their halves overflows.
#pragma once

#include "kernels/cuda/device.h"
#include "kernels/cuda/power_of_two.cuh"

namespace kernels::cuda {

constexpr int kSharedScale = 32;                // floats of a row that share a power of two; four lanes have them
constexpr int kHalvesPitch = kSharedScale + 8;  // halves from row to row: eight rows' words lie in different banks

/// A thread's share of a row: eight floats.
__device__ inline int quarter_of_row()
{
    return int(threadIdx.x) % 4;
}

/// Returns the largest magnitude of the four lanes that share a row.
__device__ inline float largest_of_row(const float (&values)[8])
{
    float largest = 0.0f;
    for (const float v : values)
        largest = fmaxf(largest, fabsf(v));
    largest = fmaxf(largest, __shfl_xor_sync(kWholeWarp, largest, 1));
    return fmaxf(largest, __shfl_xor_sync(kWholeWarp, largest, 2));
}

struct SplitFloats {
    std::uint32_t kept[4], lost[4];  // halves, eight of each
};

/// Splits scale * values. lost_scale: what is lost is multiplied by it, so that small numbers keep more of their bits.
__device__ inline SplitFloats split(const float (&values)[8], float scale, float lost_scale)
{
    SplitFloats s;
    for (int i = 0; i < 4; ++i) {
        const float a = values[2 * i] * scale;
        const float b = values[2 * i + 1] * scale;
        s.kept[i] = two_halves(a, b);
        s.lost[i] = two_halves((a - half_to_float(std::uint16_t(s.kept[i]))) * lost_scale,
                               (b - half_to_float(std::uint16_t(s.kept[i] >> 16))) * lost_scale);
    }
    return s;
}

/// Writes eight halves to their place in a row of shared memory.
__device__ inline void put_eight(std::uint16_t* rows, int row, int quarter, const std::uint32_t (&eight)[4])
{
    *reinterpret_cast<uint4*>(rows + row * kHalvesPitch + 8 * quarter) =
        make_uint4(eight[0], eight[1], eight[2], eight[3]);
}

}  // namespace kernels::cuda
