// Attention on a GPU. What is resident, or comes through the ring, is attended there, in the runs in which it comes;
// what stays on the host is attended by the CPU at the same time, and the partials are merged (design D8).
#include "engine/exec/cuda_address.h"
#include "engine/exec/cuda_backend.h"

#include <algorithm>

namespace engine {

namespace cuda = kernels::cuda;
using CudaStatus = cuda::Status;

cuda::KvBlocks CudaBackend::kv_blocks(int l, const KvLayerShape& shape) const
{
    const std::size_t table = std::size_t(l) * std::size_t(sizes_.max_blocks) * sizeof(std::uint64_t);
    return {shape.block, shape.kv_heads, cuda_address(block_tables_ + table)};
}

void CudaBackend::store_kv(const Rows& qkv, const HeadLayout& heads, int l, KvCache& cache, const KvSequence&, int)
{
    run([&] {
        return cuda::store_kv(driver_, queue_, kv_blocks(l, cache.layer(l)), cuda_address(qkv.row(0) + heads.k_col()),
                              cuda_address(qkv.row(0) + heads.v_col()), qkv.cols(), cuda_address(positions_),
                              qkv.count());
    });
}

void CudaBackend::attend(const Rows& qkv, const AttentionParameters& p, int l, const KvCache& cache, const KvSequence&,
                         int, Rows& out)
{
    out.set_shape(qkv.count(), p.heads.heads * p.heads.value_length);
    const CudaAttending all{
        .p = p,
        .l = l,
        .row = 0,
        .launch =
            {
                .kv = kv_blocks(l, cache.layer(l)),
                .group = p.heads.group(),
                .rows = qkv.count(),
                .first = cuda_address(positions_),
                .window = p.window,
                .softcap = p.softcap,
                .q = cuda_rows(qkv),
                .q_scale = cuda_address(p.q_scale),
                .max_blocks = sizes_.max_blocks,
                .partials = cuda_address(partials_),
            },
        .out = cuda_rows(out),
    };
    // A prefill streams what is on the host; where it cannot, its rows are taken a few at a time, as in decoding.
    if (qkv.count() > kFewRows && !any_on_host(l, 0, qkv.count()))
        attend_many(all);
    else
        for (int row = 0; row < qkv.count(); row += kFewRows)
            attend_few(few_of(all, row, std::min(kFewRows, qkv.count() - row)));
}

/// Rows [row, row + rows) of them.
CudaAttending CudaBackend::few_of(const CudaAttending& all, int row, int rows) const
{
    const auto at_row = [&](const cuda::Rows& r) {
        return cuda::Rows{r.at + std::size_t(row) * std::size_t(r.stride) * sizeof(float), r.stride};
    };
    CudaAttending few = all;
    few.row = row;
    few.merges = any_on_host(all.l, row, rows);
    few.launch.rows = rows;
    few.launch.first += std::size_t(row) * sizeof(int);
    few.launch.q = at_row(all.launch.q);
    few.launch.q_scale += std::size_t(row) * sizeof(float);
    few.out = at_row(all.out);
    return few;
}

/// Whether rows [row, row + rows) of the step see blocks that the device does not attend.
bool CudaBackend::any_on_host(int l, int row, int rows) const
{
    const std::uint64_t* table = block_table(l);
    const int first = step_->cache.layer(l).first_block(step_->first + row);
    const int last = (step_->first + row + rows - 1) / step_->cache.block_tokens() + 1;
    return std::find(table + first, table + last, 0u) != table + last;
}

void CudaBackend::attend_many(const CudaAttending& a)
{
    const int last_block = (step_->first + a.launch.rows - 1) / step_->cache.block_tokens() + 1;
    const int first_block = step_->cache.layer(a.l).first_block(step_->first);
    KvBlocks runs = step_->cache.open(step_->sequence, a.l, first_block, last_block);
    while (runs.next()) {
        cuda::Attention launch = a.launch;
        launch.begin = runs.first();
        launch.end = runs.last();
        const cuda::Carried carried{cuda_address(carried_), runs.first() == first_block, runs.last() == last_block};
        run([&] { return cuda::attend_many(driver_, queue_, launch, carried, cuda_address(a.p.sinks), a.out); });
    }
}

/// kFewRows rows at most.
void CudaBackend::attend_few(const CudaAttending& a)
{
    if (a.merges)
        send_queries(a);
    if (recording_ && a.merges && joins_by_flags()) {
        record_join(a);
    } else if (recording_ && (a.merges || streams(a.l))) {
        end_part(&a);
        begin_part();
    } else {
        attend_here_and_there(a);
    }
    if (a.merges)
        bring_partials(a);
    run([&] {
        return cuda::merge_partials(driver_, queue_, a.launch, a.merges ? cuda_address(elsewhere_) : 0,
                                    cuda_address(a.p.sinks), a.out);
    });
}

/// The blocks that lie on the device, and those that come there.
void CudaBackend::attend_here(const CudaAttending& a)
{
    if (!streams(a.l)) {
        run([&] { return cuda::attend_blocks(driver_, queue_, a.launch); });  // of any length
        return;
    }
    const int position = step_->first + a.row;
    const int last_block = (position + a.launch.rows - 1) / step_->cache.block_tokens() + 1;
    KvBlocks runs = step_->cache.open(step_->sequence, a.l, step_->cache.layer(a.l).first_block(position), last_block);
    cuda::Attention launch = a.launch;
    while (runs.next()) {
        launch.begin = runs.first();
        launch.end = runs.last();
        run([&] { return cuda::attend_blocks(driver_, queue_, launch); });
    }
}

/// The queries go to the host, before the device attends its own blocks.
void CudaBackend::send_queries(const CudaAttending& a)
{
    const std::size_t bytes = query_bytes(a);
    for (int r = 0; r < a.launch.rows; ++r) {
        const auto from = a.launch.q.at + std::size_t(r) * std::size_t(a.launch.q.stride) * sizeof(float);
        run([&] { return driver_.copy_to_host(host_part_.data() + std::size_t(r) * bytes, from, bytes, queue_); });
    }
}

/// The device's blocks there, and the host's here at the same time; where there are any, the queries have been sent.
void CudaBackend::attend_here_and_there(const CudaAttending& a)
{
    if (a.merges)
        run([&] { return driver_.record(queries_there_, queue_); });
    attend_here(a);
    if (a.merges)
        run([&] { return driver_.synchronize(queries_there_); });
    if (a.merges && failed_ == CudaStatus::Ok)
        attend_rest(a);
}

/// The blocks that lie on the host.
void CudaBackend::attend_rest(const CudaAttending& a)
{
    const StepClock::Scope on_host(cpu_.clock(), StepClock::Part::HostAttention);
    const std::size_t floats = cuda::elsewhere_floats(a.p.heads.heads, a.p.heads.value_length);
    for (int r = 0; r < a.launch.rows; ++r) {
        const auto* q = reinterpret_cast<const float*>(host_part_.data() + std::size_t(r) * query_bytes(a));
        cpu_.attend_host_blocks(q, host_->tables.q_scale()[a.row + r], a.p, a.l, step_->cache, step_->sequence,
                                step_->first + a.row + r, host_partials(a) + std::size_t(r) * floats);
    }
}

void CudaBackend::bring_partials(const CudaAttending& a)
{
    const std::size_t floats = cuda::elsewhere_floats(a.p.heads.heads, a.p.heads.value_length);
    const std::size_t bytes = std::size_t(a.launch.rows) * floats * sizeof(float);
    run([&] { return driver_.copy_to_device(cuda_address(elsewhere_), host_partials(a), bytes, queue_); });
}

float* CudaBackend::host_partials(const CudaAttending& a) const
{
    return reinterpret_cast<float*>(host_part_.data() + query_bytes(a) * kFewRows);
}

std::size_t CudaBackend::query_bytes(const CudaAttending& a)
{
    return std::size_t(a.p.heads.heads) * std::size_t(a.p.heads.key_length) * sizeof(float);
}

}  // namespace engine
