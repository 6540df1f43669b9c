// Attention on the CPU: one partial per KV block, merged in order of block number, so that the result does not depend
// on where blocks lie, on chunks or on threads (design D8, D9).
#include "engine/exec/cpu_backend.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace engine {

namespace {

// Query rows that visit a block together while it is in the cache of one core.
constexpr int kTileRows = 16;

}  // namespace

struct CpuBackend::AttendTile {
    const Rows& qkv;
    const AttentionParameters& p;
    const KvCache& cache;
    const KvSequence& sequence;
    int l;
    int first;  // position of row 0
    int kv_head;
    int row_begin, row_end;
    Rows& out;
};

std::vector<CpuBackend::AttentionScratch> CpuBackend::attention_scratch(int threads) const
{
    std::vector<AttentionScratch> scratch;
    const auto group = std::size_t(max_group_);
    const auto sums = group * std::size_t(2 + value_length_);
    for (int worker = 0; worker < threads; ++worker)
        scratch.push_back({aligned_array<float>(kTileRows * group * std::size_t(key_length_)),
                           aligned_array<float>(group * std::size_t(block_tokens_)), aligned_array<float>(sums),
                           aligned_array<float>(kTileRows * sums)});
    return scratch;
}

void CpuBackend::store_kv(const Rows& qkv, const HeadLayout& heads, int l, KvCache& cache, const KvSequence& sequence,
                          int first)
{
    const kernels::KvBlockLayout& layout = cache.layer(l).block;
    pool_->for_each(qkv.count(), 4, [&](int begin, int end, int) {
        for (int t = begin; t < end; ++t) {
            const int position = first + t;
            const PageId page = sequence.pages[std::size_t(position / block_tokens_)];
            for (int head = 0; head < heads.kv_heads; ++head)
                kernels_.store_kv(layout, cache.block(page, l, head), position % block_tokens_,
                                  qkv.row(t) + heads.k_col() + head * heads.key_length,
                                  qkv.row(t) + heads.v_col() + head * heads.value_length);
        }
    });
}

/// All blocks that the tile's rows see of one KV head, block by block.
void CpuBackend::attend_tile(const AttendTile& tile, AttentionScratch& scratch) const
{
    const AttentionParameters& p = tile.p;
    const int group = p.heads.group(), k_dim = p.heads.key_length, v_dim = p.heads.value_length;
    const int rows = tile.row_end - tile.row_begin;
    const auto q_of = [&](int r) { return scratch.q.get() + std::size_t(r * group) * std::size_t(k_dim); };
    // Sums of row r: (group,) max, (group,) sum, (group, v_dim) out
    const auto sums_of = [&](int r) { return scratch.sums.get() + std::size_t(r * group) * std::size_t(2 + v_dim); };

    for (int r = 0; r < rows; ++r) {
        const int t = tile.row_begin + r;
        const float* q = tile.qkv.row(t) + tile.kv_head * group * k_dim;
        for (int i = 0; i < group * k_dim; ++i)
            q_of(r)[i] = q[i] * p.q_scale[t];
        std::fill_n(sums_of(r), group, -std::numeric_limits<float>::infinity());
        std::fill_n(sums_of(r) + group, group * (1 + v_dim), 0.0f);
    }

    const auto oldest_seen = [&](int position) { return p.window > 0 ? std::max(0, position - p.window + 1) : 0; };
    const int first_block = oldest_seen(tile.first + tile.row_begin) / block_tokens_;
    const int last_block = (tile.first + tile.row_end - 1) / block_tokens_;

    kernels::AttendBlock args;
    args.layout = tile.cache.layer(tile.l).block;
    args.group = group;
    args.softcap = p.softcap;
    args.scores = scratch.scores.get();
    args.max = scratch.partial.get();
    args.sum = args.max + group;
    args.out = args.sum + group;
    for (int b = first_block; b <= last_block; ++b) {
        const int block_start = b * block_tokens_;
        args.block = tile.cache.block(tile.sequence.pages[std::size_t(b)], tile.l, tile.kv_head);
        for (int r = 0; r < rows; ++r) {
            const int position = tile.first + tile.row_begin + r;
            args.first = std::max(0, oldest_seen(position) - block_start);
            args.last = std::min(block_tokens_, position + 1 - block_start);
            if (args.first >= args.last)
                continue;
            args.q = q_of(r);
            kernels_.attend_block(args);
            float* sums = sums_of(r);
            for (int g = 0; g < group; ++g)
                kernels_.merge_partial(v_dim, args.max[g], args.sum[g], args.out + g * v_dim, sums[g], sums[group + g],
                                       sums + 2 * group + g * v_dim);
        }
    }

    for (int r = 0; r < rows; ++r) {
        const float* sums = sums_of(r);
        float* out = tile.out.row(tile.row_begin + r) + tile.kv_head * group * v_dim;
        for (int g = 0; g < group; ++g) {
            // A sink is one more logit in the softmax, without a value: it joins once, after all blocks.
            const float sink = p.sinks ? p.sinks[tile.kv_head * group + g] : -std::numeric_limits<float>::infinity();
            const float max = std::max(sums[g], sink);
            const float kept = std::exp(sums[g] - max);
            const float scale = kept / (sums[group + g] * kept + std::exp(sink - max));
            for (int i = 0; i < v_dim; ++i)
                out[g * v_dim + i] = sums[2 * group + g * v_dim + i] * scale;
        }
    }
}

void CpuBackend::attend(const Rows& qkv, const AttentionParameters& p, int l, const KvCache& cache,
                        const KvSequence& sequence, int first, Rows& out)
{
    out.set_shape(qkv.count(), p.heads.heads * p.heads.value_length);
    const int tiles = (qkv.count() + kTileRows - 1) / kTileRows;
    // One KV head of one tile at a time: a core streams one head's blocks, and its query heads share each byte read.
    const std::int64_t products = std::int64_t(qkv.count()) * (first + qkv.count()) * out.cols();
    const int items = tiles * p.heads.kv_heads;
    pool_->for_each(items, sharing_pays(products) ? 1 : items, [&](int begin, int end, int worker) {
        for (int item = begin; item < end; ++item) {
            const int row_begin = item / p.heads.kv_heads * kTileRows;
            attend_tile({qkv, p, cache, sequence, l, first, item % p.heads.kv_heads, row_begin,
                         std::min(row_begin + kTileRows, qkv.count()), out},
                        attention_[std::size_t(worker)]);
        }
    });
}

}  // namespace engine
