#include "engine/exec/cpu_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace engine {

namespace {

// Query rows that visit a block together while it is in the cache of one core.
constexpr int kTileRows = 16;
// How many of a KV head's query heads a worker takes at once: more are divided, so that several workers have something
// to do where there are few KV heads (latent attention has one), but not among more than share what is loaded.
constexpr int kMostHeads = 16, kFewestHeads = 4;
// How many tokens of one KV head are a worker's piece when blocks are written in another type.
constexpr int kTokensRewritten = 64;

}  // namespace

/// Describes a piece of attention: some rows of some query heads of one KV head, over one run of blocks.
struct CpuAttention::Tile {
    const float* q;  // of row 0
    std::size_t q_stride;
    const float* q_scale;
    const AttentionParameters& p;
    const kernels::KvBlockLayout& layout;
    const KvBlocks& blocks;
    int first;  // position of row 0
    HeadRange heads;
    int row_begin, row_end;

    int sum_floats() const { return heads.count * (2 + p.heads.value_length); }  // of a row

    /// Returns the block of the tile's KV head. Null: a device attends it.
    const std::byte* block(int b) const
    {
        return blocks.block(b) ? blocks.block(b) + std::size_t(heads.kv_head) * layout.bytes() : nullptr;
    }
    int oldest_seen(int position) const
    {
        if (p.window == 0)
            return 0;
        return p.window_kind == WindowKind::Chunks ? position / p.window * p.window
                                                   : std::max(0, position - p.window + 1);
    }
};

CpuAttention::CpuAttention(const Hyperparameters& h, int max_rows, int block_tokens, ThreadPool& pool)
    : kernels_(kernels::cpu_kernels())
    , pool_(&pool)
    , max_rows_(max_rows)
    , block_tokens_(block_tokens)
    , key_length_(h.longest_key())
    , value_length_(h.longest_value())
{
    for (const LayerParameters& layer : h.layers) {
        max_heads_ = std::max(max_heads_, layer.heads);
        max_together_ = std::max(max_together_, std::min(layer.group(), kMostHeads));
    }
    scratch_ = scratch_for(pool.size());
}

std::vector<CpuAttention::Scratch> CpuAttention::scratch_for(int threads) const
{
    std::vector<Scratch> scratch;
    const auto group = std::size_t(max_together_);
    const auto sums = group * std::size_t(2 + value_length_);
    for (int worker = 0; worker < threads; ++worker)
        scratch.push_back({aligned_array<float>(kTileRows * group * std::size_t(key_length_)),
                           aligned_array<float>(group * std::size_t(block_tokens_)), aligned_array<float>(sums),
                           aligned_array<float>(kTileRows * sums)});
    return scratch;
}

/// The bytes that scratch_for() and allow_runs() take.
std::size_t CpuAttention::scratch_bytes(const Hyperparameters& h, int max_rows, int block_tokens, int threads,
                                        bool runs)
{
    std::size_t group = 0, heads = 0;
    for (const LayerParameters& layer : h.layers) {
        group = std::max(group, std::size_t(std::min(layer.group(), kMostHeads)));
        heads = std::max(heads, std::size_t(layer.heads));
    }
    const auto head_sums = std::size_t(2 + h.longest_value()), sums = group * head_sums;
    const std::size_t worker =
        kTileRows * group * std::size_t(h.longest_key()) + group * std::size_t(block_tokens) + sums + kTileRows * sums;
    const auto tiles = std::size_t((max_rows + kTileRows - 1) / kTileRows);
    return (std::size_t(threads) * worker + (runs ? tiles * heads * kTileRows * head_sums : 0)) * sizeof(float);
}

void CpuAttention::use(ThreadPool& pool, std::vector<Scratch> scratch)
{
    pool_ = &pool;
    scratch_ = std::move(scratch);
}

void CpuAttention::store_kv(const Rows& qkv, const HeadLayout& heads, int l, const Step& step)
{
    const kernels::KvBlockLayout& layout = step.cache.layer(l).block;
    pool_->for_each(qkv.count(), 4, [&](int begin, int end, int) {
        for (int t = begin; t < end; ++t) {
            const RowGroup& group = step.group_of(t);
            const int position = group.first + t - group.row;
            const PageId page = group.sequence->pages[std::size_t(position / block_tokens_)];
            for (int head = 0; head < heads.kv_heads; ++head)
                kernels_.store_kv(layout, step.cache.block(page, l, step.layer_on(l), head), position % block_tokens_,
                                  qkv.row(t) + heads.k_col() + head * heads.key_length,
                                  qkv.row(t) + heads.v_col() + head * heads.value_length);
        }
    });
}

void CpuAttention::rewrite_kv(const KvLayerShape& from, const std::byte* old, const KvLayerShape& to, std::byte* block)
{
    const int tokens = to.block.tokens;
    pool_->for_each(to.kv_heads * tokens, kTokensRewritten, [&](int begin, int end, int worker) {
        float* const k = scratch_[std::size_t(worker)].q.get();
        float* const v = scratch_[std::size_t(worker)].partial.get();
        for (int i = begin; i < end; ++i) {
            const int head = i / tokens, t = i % tokens;
            kernels_.load_kv(from.block, old + std::size_t(head) * from.block.bytes(), t, k, v);
            kernels_.store_kv(to.block, block + std::size_t(head) * to.block.bytes(), t, k, v);
        }
    });
}

/// Divides the query heads of a layer into runs that belong to one KV head each.
class CpuAttention::HeadRanges
{
public:
    /// `others`: into how many pieces the work is divided otherwise.
    HeadRanges(const HeadLayout& heads, int others, int threads)
        : group_(heads.group())
        , kv_heads_(heads.kv_heads)
    {
        if (group_ <= kMostHeads)
            return;
        const int wanted = (threads + kv_heads_ * others - 1) / (kv_heads_ * others);
        const int most = group_ / kFewestHeads, fewest = (group_ + kMostHeads - 1) / kMostHeads;
        parts_ = std::clamp(wanted, fewest, std::max(fewest, most));
    }
    int count() const { return kv_heads_ * parts_; }
    HeadRange at(int i) const
    {
        const int kv_head = i / parts_, part = i % parts_;
        const int begin = group_ * part / parts_, end = group_ * (part + 1) / parts_;
        return {kv_head, kv_head * group_ + begin, end - begin};
    }

private:
    int group_, kv_heads_, parts_ = 1;
};

/// Copies the tile's queries to the scratch, scaled.
void CpuAttention::take_queries(const Tile& tile, Scratch& scratch)
{
    const int values = tile.heads.count * tile.p.heads.key_length;
    float* to = scratch.q.get();
    for (int t = tile.row_begin; t < tile.row_end; ++t) {
        const float* q = tile.q + std::size_t(t) * tile.q_stride + tile.heads.first * tile.p.heads.key_length;
        for (int i = 0; i < values; ++i)
            *to++ = q[i] * tile.q_scale[t];
    }
}

/// Adds what the tile's rows see of the run to `sums`, block by block: (rows, [max (heads,), sum (heads,), out (heads,
/// value_length)]).
void CpuAttention::attend_run(const Tile& tile, Scratch& scratch, float* sums) const
{
    const AttentionParameters& p = tile.p;
    const int group = tile.heads.count, v_dim = p.heads.value_length;
    const int rows = tile.row_end - tile.row_begin;
    const int position = tile.first + tile.row_begin;  // of the tile's row 0
    const int first_block = std::max(tile.blocks.first(), tile.oldest_seen(position) / block_tokens_);
    const int last_block = std::min(tile.blocks.last(), (position + rows - 1) / block_tokens_ + 1);

    kernels::AttendBlock args;
    args.layout = tile.layout;
    args.group = group;
    args.softcap = p.softcap;
    args.scores = scratch.scores.get();
    args.max = scratch.partial.get();
    args.sum = args.max + group;
    args.out = args.sum + group;
    for (int b = first_block; b < last_block; ++b) {
        args.block = tile.block(b);
        if (!args.block)
            continue;
        const int block_start = b * block_tokens_;
        for (int r = 0; r < rows; ++r) {
            args.first = std::max(0, tile.oldest_seen(position + r) - block_start);
            args.last = std::min(block_tokens_, position + r + 1 - block_start);
            if (args.first >= args.last)
                continue;
            args.next = r == rows - 1 && b + 1 < last_block ? tile.block(b + 1) : nullptr;
            args.q = scratch.q.get() + std::size_t(r) * std::size_t(group * p.heads.key_length);
            kernels_.attend_block(args);
            float* row_sums = sums + std::size_t(r) * std::size_t(tile.sum_floats());
            for (int g = 0; g < group; ++g)
                kernels_.merge_partial(v_dim, args.max[g], args.sum[g], args.out + g * v_dim, row_sums[g],
                                       row_sums[group + g], row_sums + 2 * group + g * v_dim);
        }
    }
}

void CpuAttention::clear_sums(const Tile& tile, float* sums)
{
    const int group = tile.heads.count, per_row = tile.sum_floats();
    for (int r = 0; r < tile.row_end - tile.row_begin; ++r) {
        float* row_sums = sums + std::size_t(r) * std::size_t(per_row);
        std::fill_n(row_sums, group, -std::numeric_limits<float>::infinity());
        std::fill_n(row_sums + group, per_row - group, 0.0f);
    }
}

/// Divides the tile's sums, which gives averages. `first`: the row of `to` at which the sequence's rows begin.
void CpuAttention::finish_rows(const Tile& tile, const float* sums, int first, Rows& to)
{
    const AttentionParameters& p = tile.p;
    const int group = tile.heads.count, v_dim = p.heads.value_length;
    for (int r = 0; r < tile.row_end - tile.row_begin; ++r) {
        const float* row_sums = sums + std::size_t(r) * std::size_t(tile.sum_floats());
        float* out = to.row(first + tile.row_begin + r) + tile.heads.first * v_dim;
        for (int g = 0; g < group; ++g) {
            // A sink is one more logit in the softmax, without a value: it joins once, after all blocks.
            const float sink = p.sinks ? p.sinks[tile.heads.first + g] : -std::numeric_limits<float>::infinity();
            const float max = std::max(row_sums[g], sink);
            const float kept = std::exp(row_sums[g] - max);
            const float scale = kept / (row_sums[group + g] * kept + std::exp(sink - max));
            for (int i = 0; i < v_dim; ++i)
                out[g * v_dim + i] = row_sums[2 * group + g * v_dim + i] * scale;
        }
    }
}

bool CpuAttention::next_run(KvBlocks& blocks, StepClock& clock)
{
    if (blocks.streamed() == 0)
        return blocks.next();
    const StepClock::Scope link(clock, StepClock::Part::KvLink);
    return blocks.next();
}

void CpuAttention::attend(const Rows& qkv, const AttentionParameters& p, int l, const Step& step, Rows& out)
{
    out.set_shape(qkv.count(), p.heads.heads * p.heads.value_length);
    for (const RowGroup& group : step.groups)
        attend_group(qkv, p, l, step, group, out);
}

/// Attends the blocks of one sequence with its rows.
void CpuAttention::attend_group(const Rows& qkv, const AttentionParameters& p, int l, const Step& step,
                                const RowGroup& rows, Rows& out)
{
    const int first = rows.first, count = rows.count();
    const KvLayerShape& shape = step.cache.layer(l);
    const int last_block = (first + count - 1) / block_tokens_ + 1;
    KvBlocks blocks = step.cache.open(*rows.sequence, l, step.layer_on(l), shape.first_block(first), last_block);

    // One KV head of one tile at a time: a core streams one head's blocks, and its query heads share each byte read.
    const int tiles = (count + kTileRows - 1) / kTileRows;
    const HeadRanges ranges(p.heads, tiles, pool_->size());
    const int items = tiles * ranges.count();
    const std::int64_t products = std::int64_t(count) * (first + count) * out.cols();
    const int grain = ThreadPool::sharing_pays(products) ? 1 : items;
    // Blocks of an emulated device and of the host are attended in one loop: the time is divided by their numbers.
    std::optional<StepClock::Scope> on_host;
    if (step.layer_on(l) == LayerOn::Device && blocks.read_on_host() > 0)
        on_host.emplace(step.clock, StepClock::Part::HostAttention, double(blocks.read_on_host()) / blocks.count());
    for (bool first_run = true; next_run(blocks, step.clock); first_run = false) {
        const bool last_run = blocks.last() == last_block;
        const bool kept = !(first_run && last_run);  // the sums must last from run to run
        pool_->for_each(items, grain, [&](int begin, int end, int worker) {
            Scratch& scratch = scratch_[std::size_t(worker)];
            for (int item = begin; item < end; ++item) {
                const int tile_number = item / ranges.count(), row_begin = tile_number * kTileRows;
                const Tile tile{qkv.row(rows.row),
                                std::size_t(qkv.cols()),
                                p.q_scale + rows.row,
                                p,
                                shape.block,
                                blocks,
                                first,
                                ranges.at(item % ranges.count()),
                                row_begin,
                                std::min(row_begin + kTileRows, count)};
                float* const sums = kept ? run_sums(tile_number, tile.heads.first) : scratch.sums.get();
                take_queries(tile, scratch);
                if (first_run)
                    clear_sums(tile, sums);
                attend_run(tile, scratch, sums);
                if (last_run)
                    finish_rows(tile, sums, rows.row, out);
            }
        });
    }
}

void CpuAttention::attend_host_blocks(const float* q, float q_scale, const AttentionParameters& p, int l,
                                      const Step& step, int position, const Partials& to)
{
    const KvLayerShape& shape = step.cache.layer(l);
    KvBlocks blocks =
        step.cache.open_host(*step.one().sequence, l, shape.first_block(position), position / block_tokens_ + 1);
    blocks.next();
    const int v_dim = p.heads.value_length;
    const HeadRanges ranges(p.heads, 1, pool_->size());
    pool_->for_each(ranges.count(), 1, [&](int begin, int end, int worker) {
        Scratch& scratch = scratch_[std::size_t(worker)];
        for (int i = begin; i < end; ++i) {
            const auto [kv_head, head, count] = ranges.at(i);
            const Tile tile{q, 0, &q_scale, p, shape.block, blocks, position, {kv_head, head, count}, 0, 1};
            float* const sums = scratch.sums.get();  // max, sum and out of these heads
            take_queries(tile, scratch);
            clear_sums(tile, sums);
            attend_run(tile, scratch, sums);
            std::copy_n(sums, count, to.max + head);
            std::copy_n(sums + count, count, to.sum + head);
            std::copy_n(sums + 2 * count, count * v_dim, to.out + head * v_dim);
        }
    });
}

void CpuAttention::allow_runs()
{
    if (!run_sums_) {
        const int tiles = (max_rows_ + kTileRows - 1) / kTileRows;
        run_sums_ = aligned_array<float>(std::size_t(tiles) * std::size_t(max_heads_) * head_sums());
    }
}

/// Returns the floats that the sums of one query head in one tile take.
std::size_t CpuAttention::head_sums() const
{
    return std::size_t(kTileRows) * std::size_t(2 + value_length_);
}

/// Returns the sums of some heads in a tile, the first of which is `head`.
float* CpuAttention::run_sums(int tile, int head)
{
    return run_sums_.get() + (std::size_t(tile) * std::size_t(max_heads_) + std::size_t(head)) * head_sums();
}

}  // namespace engine
