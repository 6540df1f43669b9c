// Checks attention over a sequence's KV blocks against the scalar reference.
#pragma once

#include "kernels/cuda/check.h"
#include "kernels/cuda/checks/device_memory.h"
#include "kernels/cuda/ops.h"

#include <limits>
#include <vector>

namespace kernels::cuda {

struct AttentionCase {
    KvBlockLayout layout;
    int kv_heads = 1, group = 1, tokens = 1, rows = 1, window = 0;
    float softcap = 0;
    bool sinks = false;
    WindowKind window_kind = WindowKind::Sliding;
    int many_pieces = kManyPieces;
};

/// A sequence's KV and the queries of its last rows.
struct AttentionSequence {
    AttentionCase c;
    std::vector<std::vector<std::byte>> columns;          // (blocks, KV heads * layout bytes)
    std::vector<float> q = {}, q_scale = {}, sinks = {};  // (rows, heads, k_dim) (rows,) (heads,)

    int heads() const { return c.kv_heads * c.group; }
    int blocks() const { return int(columns.size()); }
    int seen(int row) const { return c.tokens - c.rows + row + 1; }
    int oldest(int row) const
    {
        if (c.window > 0 && c.window_kind == WindowKind::Chunks)
            return (seen(row) - 1) / c.window * c.window;
        return c.window > 0 && seen(row) > c.window ? seen(row) - c.window : 0;
    }
    std::size_t out_floats() const { return std::size_t(c.rows) * std::size_t(heads()) * std::size_t(c.layout.v_dim); }
};

AttentionSequence attention_sequence(const AttentionCase& c, unsigned seed);

/// The reference's partial of one block for one query head, which may be empty.
struct AttentionPartial {
    float max = -std::numeric_limits<float>::infinity();
    float sum = 0.0f;
    std::vector<float> out;  // (v_dim,)
};
AttentionPartial reference_partial(const AttentionSequence& s, int row, int head, int block);
/// Adds `other`, of the same row and head, to `into`.
void join(AttentionPartial& into, const AttentionPartial& other);

// A score is a sum of k_dim products, at most some 60 in size by construction: its rounding, 2^-24 * 60 * 20 in two
// computations, is a relative error of the weights. |v| stays below 6.
constexpr double kAttentionTolerance = 6 * 2 * 1200 * 0x1p-24;

// Tensor cores take the weights as halves, and values of Q8_0 too: each is off by 2^-11 at most, and so is their mean.
constexpr double kAttentionToleranceOfHalves = kAttentionTolerance + 6 * 2 * 0x1p-11;

/// Returns the host's partials for the blocks that are not on the device: (rows,) HostPartialsLayout.
std::vector<float> host_partials(const AttentionSequence& s, const std::vector<bool>& here);

/// Returns the largest difference from the reference as a share of the tolerance. actual: (rows, heads, v_dim)
double attention_error(const AttentionSequence& s, const std::vector<float>& actual, double tolerance);

/// The sequence on the device.
struct PlacedAttention {
    Attention attention;
    DevicePtr sinks = 0;
    PartialsLayout partials;
};
/// Puts the sequence on the device. `here`: (blocks,) whether a block is there; empty: all are.
PlacedAttention place(DeviceMemory& on, const AttentionSequence& s, const std::vector<bool>& here = {});

}  // namespace kernels::cuda
