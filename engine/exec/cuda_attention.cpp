#include "engine/exec/cuda_attention.h"

#include "engine/exec/cuda_address.h"
#include "engine/exec/launch_work.h"

#include <algorithm>

namespace engine {

namespace cuda = kernels::cuda;

CudaAttention::CudaAttention(CudaCalls& calls, const CudaStepInputs& inputs, CudaProducts& products,
                             CudaHostPart& host_part, CudaJoins& joins, CudaRecorder& recorder, const CudaSizes& sizes,
                             CudaArena& memory)
    : calls_(calls)
    , inputs_(inputs)
    , products_(products)
    , host_part_(host_part)
    , joins_(joins)
    , recorder_(recorder)
    , max_blocks_(sizes.max_blocks)
    , few_rows_(sizes.few_rows)
    , partials_(memory.take(sizes.partials))
    , carried_(memory.take(sizes.carried))
{
}

void CudaAttention::store_kv(const Rows& qkv, const HeadLayout& heads, int l, const Step& step)
{
    calls_.launch(cuda::store_kv, inputs_.kv_blocks(l, step.cache.layer(l)), cuda_address(qkv.row(0) + heads.k_col()),
                  cuda_address(qkv.row(0) + heads.v_col()), qkv.cols(), inputs_.positions(), qkv.count());
}

/// Describes the heads of qkv for the kernels.
cuda::PreparedHeads CudaAttention::prepared(const Rows& qkv, const HeadPreparation& p) const
{
    cuda::PreparedHeads heads{
        .heads = p.heads.heads,
        .q = cuda_address(qkv.row(0)),
        .k = cuda_address(qkv.row(0) + p.heads.k_col()),
        .v = cuda_address(qkv.row(0) + p.heads.v_col()),
        .stride = qkv.cols(),
        .q_norm = cuda_address(p.q_norm),
        .k_norm = cuda_address(p.k_norm),
        .v_norm = cuda_address(p.v_norm),
        .epsilon = p.epsilon,
        .first = inputs_.positions(),
        .rows = qkv.count(),
    };
    if (p.rotation) {
        heads.cos = cuda_address(p.rotation->cos);
        heads.sin = cuda_address(p.rotation->sin);
        heads.pairs = p.rotation->pairs;
        heads.order = p.rotation->neox ? cuda::RopePairs::Halves : cuda::RopePairs::Neighbours;
    }
    return heads;
}

void CudaAttention::prepare_heads(const Rows& qkv, const HeadPreparation& p, int l, const Step& step)
{
    calls_.launch(cuda::prepare_heads, inputs_.kv_blocks(l, step.cache.layer(l)), prepared(qkv, p));
}

void CudaAttention::project_heads(Rows& x, std::span<const Product> products, Rows& qkv, const HeadPreparation& p,
                                  int l, const Step& step)
{
    const cuda::KvBlocks kv = inputs_.kv_blocks(l, step.cache.layer(l));
    if (!CudaProducts::can_multiply_and_prepare(x, products, kv.layout)) {
        products_.multiply(x, products, qkv);
        prepare_heads(qkv, p, l, step);
        return;
    }
    CudaProducts::shape(x, products, qkv);
    products_.multiply_and_prepare(x, products, qkv, kv, prepared(qkv, p));
}

static cuda::Rounded from_row(cuda::Rounded rounded, int row)
{
    const std::size_t bytes = std::size_t(row) * rounded.rows.stride;
    if (rounded.rows.at)
        rounded.rows.at += bytes;
    if (rounded.residual)
        rounded.residual += bytes;
    return rounded;
}

void CudaAttention::attend(const Rows& qkv, const AttentionParameters& p, int l, const Step& step, Rows& out)
{
    out.set_shape(qkv.count(), p.heads.heads * p.heads.value_length);
    const CudaAttending all{
        .p = p,
        .l = l,
        .row = 0,
        .launch =
            {
                .kv = inputs_.kv_blocks(l, step.cache.layer(l)),
                .group = p.heads.group(),
                .rows = qkv.count(),
                .first = inputs_.positions(),
                .window = p.window,
                .window_kind =
                    p.window_kind == WindowKind::Chunks ? cuda::WindowKind::Chunks : cuda::WindowKind::Sliding,
                .softcap = p.softcap,
                .q = cuda_rows(qkv),
                .q_scale = cuda_address(p.q_scale),
                .max_blocks = max_blocks_,
                .partials = cuda_address(partials_),
            },
        .out = cuda_rows(out),
    };
    // Few rows are attended in the way of a single one, so that drafted tokens are checked by the very sums that
    // decoding makes. Blocks that stream come once a step, so all rows attend them together. A prefill streams what is
    // on the host; where it cannot, its rows are taken a few at a time as well.
    const int few = inputs_.streams(l) ? few_rows_ : cuda::kFewTokens;
    if (qkv.count() > few && !inputs_.any_on_host(l, 0, qkv.count())) {
        attend_many(all);
        return;
    }
    cuda::Rounded rounded;
    if (p.reader && p.heads.value_length % 32 == 0)  // groups that share a scale are of one head
        rounded = products_.rounded_for(*p.reader, out);
    for (int row = 0; row < qkv.count(); row += few_rows_)
        attend_few(few_of(all, row, std::min(few_rows_, qkv.count() - row)), from_row(rounded, row));
    if (rounded.rows.at)
        out.set_rounded();
}

/// Returns the attention of rows [row, row + rows) alone.
CudaAttending CudaAttention::few_of(const CudaAttending& all, int row, int rows) const
{
    const auto at_row = [&](const cuda::Rows& r) {
        return cuda::Rows{r.at + std::size_t(row) * std::size_t(r.stride) * sizeof(float), r.stride};
    };
    CudaAttending few = all;
    few.row = row;
    few.merges = inputs_.any_on_host(all.l, row, rows);
    few.launch.rows = rows;
    few.launch.first += std::size_t(row) * sizeof(int);
    few.launch.q = at_row(all.launch.q);
    few.launch.q_scale += std::size_t(row) * sizeof(float);
    few.out = at_row(all.out);
    return few;
}

/// Attends with many rows, in as many launches as runs of blocks come, and more where one would run too long.
void CudaAttention::attend_many(const CudaAttending& a)
{
    const Step& step = inputs_.step();
    const int last_block = (step.one().first + a.launch.rows - 1) / step.cache.block_tokens() + 1;
    const int first_block = step.cache.layer(a.l).first_block(step.one().first);
    const int most = blocks_of_launch(a.launch, calls_.driver().info());
    KvBlocks runs = step.cache.open(*step.one().sequence, a.l, LayerOn::Device, first_block, last_block);
    while (runs.next())
        for (int begin = runs.first(); begin < runs.last();) {
            const int end = runs.last() - begin > most ? begin + most : runs.last();
            cuda::Attention launch = a.launch;
            launch.begin = begin;
            launch.end = end;
            const cuda::Carried carried{cuda_address(carried_), begin == first_block, end == last_block};
            calls_.launch(cuda::attend_many, launch, carried, cuda_address(a.p.sinks), a.out);
            begin = end;
        }
}

/// Attends with few_rows_ rows at most.
void CudaAttention::attend_few(const CudaAttending& a, const cuda::Rounded& rounded)
{
    if (!a.merges && !inputs_.streams(a.l) && cuda::merges_fast_at_end(a.launch)) {
        calls_.launch(cuda::attend_and_merge, a.launch, cuda_address(a.p.sinks), a.out, rounded, products_.counters(),
                      CudaProducts::next_weights(a.p.reader));
        return;
    }
    if (a.merges)
        host_part_.send_queries(a);
    if (recorder_.is_recording() && a.merges && joins_.by_flags()) {
        record_join(a);
    } else if (recorder_.is_recording() && (a.merges || inputs_.streams(a.l))) {
        recorder_.cut(a);
    } else {
        attend_here_and_there(a);
    }
    calls_.launch(cuda::merge_partials, a.launch, a.merges ? host_part_.partials() : 0, cuda_address(a.p.sinks), a.out,
                  rounded);
}

/// Records that the host is asked to attend its blocks, and that the device attends its own before it waits.
void CudaAttention::record_join(const CudaAttending& a)
{
    joins_.ask(a.l);
    attend_here(a);
    joins_.wait_for_answer(a.l);
    recorder_.add_join(a);
}

/// Attends the blocks that lie on the device, and those that come there.
void CudaAttention::attend_here(const CudaAttending& a)
{
    if (!inputs_.streams(a.l)) {
        calls_.launch(cuda::attend_blocks, a.launch);  // blocks of any number
        return;
    }
    const Step& step = inputs_.step();
    const int position = step.one().first + a.row;
    const int last_block = (position + a.launch.rows - 1) / step.cache.block_tokens() + 1;
    KvBlocks runs = step.cache.open(*step.one().sequence, a.l, LayerOn::Device,
                                    step.cache.layer(a.l).first_block(position), last_block);
    cuda::Attention launch = a.launch;
    while (runs.next()) {
        launch.begin = runs.first();
        launch.end = runs.last();
        calls_.launch(cuda::attend_blocks, launch);
    }
}

/// The device attends its blocks, and at the same time the host its own; where there are any, the queries have been
/// sent.
void CudaAttention::attend_here_and_there(const CudaAttending& a)
{
    if (a.merges)
        host_part_.note_queries();
    attend_here(a);
    if (a.merges)
        host_part_.wait_and_attend(a);
}

}  // namespace engine
