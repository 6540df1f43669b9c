// CpuAttention keeps keys and values in their blocks and attends them on the CPU: one partial per KV block, merged in
// order of block number, so that the result does not depend on where blocks lie, on chunks or on threads.
#pragma once

#include "engine/exec/backend.h"
#include "engine/exec/thread_pool.h"

#include <cstddef>
#include <vector>

namespace engine {

/// Owned by the CPU's backend; the engine's thread calls it.
class CpuAttention
{
public:
    /// Holds what one worker computes in.
    struct Scratch {
        // heads: those of a KV head that a worker takes at once
        AlignedArray<float> q;        // (kTileRows, heads, key_length), scaled
        AlignedArray<float> scores;   // (heads, block_tokens)
        AlignedArray<float> partial;  // (heads, 2 + value_length): max, sum, then out
        AlignedArray<float> sums;     // (kTileRows, heads, 2 + value_length), merged so far
    };

    /// Attention of one row before the division, of all heads.
    struct Partials {
        float* max;  // (heads,) largest scores
        float* sum;  // (heads,) sums of exponentials
        float* out;  // (heads, value_length) weighted values
    };

    /// The pool outlives it, or is replaced by use(). `max_rows`: tokens of the largest batch. Throws std::bad_alloc.
    CpuAttention(const Hyperparameters& h, int max_rows, int block_tokens, ThreadPool& pool);
    /// Makes what that many workers compute in. Throws std::bad_alloc.
    std::vector<Scratch> scratch_for(int threads) const;
    /// Returns the bytes of scratch_for(threads); with `runs` also those of allow_runs().
    static std::size_t scratch_bytes(const Hyperparameters& h, int max_rows, int block_tokens, int threads, bool runs);
    /// Call it between steps: computes with these workers from now on. `scratch`: scratch_for() as many.
    void use(ThreadPool& pool, std::vector<Scratch> scratch);
    /// Allows that the blocks of an attention come in several runs from now on. Throws std::bad_alloc.
    void allow_runs();
    bool allows_runs() const { return run_sums_ != nullptr; }

    // These do the backend's operations of their names.
    void store_kv(const Rows& qkv, const HeadLayout& heads, int l, const Step& step);
    void attend(const Rows& qkv, const AttentionParameters& p, int l, const Step& step, Rows& out);
    void attend_host_blocks(const float* q, float q_scale, const AttentionParameters& p, int l, const Step& step,
                            int position, const Partials& to);
    void rewrite_kv(const KvLayerShape& from, const std::byte* old, const KvLayerShape& to, std::byte* block);

private:
    /// Query heads that share a KV head.
    struct HeadRange {
        int kv_head = 0;
        int first = 0, count = 0;
    };
    class HeadRanges;
    struct Tile;
    void attend_group(const Rows& qkv, const AttentionParameters& p, int l, const Step& step, const RowGroup& rows,
                      Rows& out);
    static void take_queries(const Tile& tile, Scratch& scratch);
    void attend_run(const Tile& tile, Scratch& scratch, float* sums) const;
    static void clear_sums(const Tile& tile, float* sums);
    static void finish_rows(const Tile& tile, const float* sums, int first, Rows& to);
    static bool next_run(KvBlocks& blocks, StepClock& clock);
    std::size_t head_sums() const;
    float* run_sums(int tile, int head);

    const kernels::CpuKernels& kernels_;
    ThreadPool* pool_;
    const int max_rows_, block_tokens_;
    const int key_length_, value_length_;   // the most of any layer
    int max_heads_ = 0, max_together_ = 0;  // of a layer; of those that a worker takes at once
    std::vector<Scratch> scratch_;          // (threads,)
    AlignedArray<float> run_sums_;          // (tiles, heads, head_sums()) of an attention in several runs
};

}  // namespace engine
