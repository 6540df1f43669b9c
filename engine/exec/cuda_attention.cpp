// Attention on a GPU. What is resident, or comes through the ring, is attended there, in the runs in which it comes;
// what stays on the host is attended by the CPU at the same time, and the partials are merged (design D8).
#include "engine/exec/cuda_address.h"
#include "engine/exec/cuda_backend.h"

#include <algorithm>

namespace engine {

namespace cuda = kernels::cuda;
using CudaStatus = cuda::Status;

/// The attention of one layer in one step.
struct CudaBackend::Attending {
    const Rows& qkv;
    const AttentionParameters& p;
    int l;
    const KvCache& cache;
    const KvSequence& sequence;
    int first;  // position of row 0
    Rows& out;
    cuda::Attention launch;  // of all rows
};

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

void CudaBackend::attend(const Rows& qkv, const AttentionParameters& p, int l, const KvCache& cache,
                         const KvSequence& sequence, int first, Rows& out)
{
    out.set_shape(qkv.count(), p.heads.heads * p.heads.value_length);
    const Attending a{
        qkv,
        p,
        l,
        cache,
        sequence,
        first,
        out,
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
    };
    const int first_block = cache.layer(l).first_block(first);
    const int last_block = (first + qkv.count() - 1) / cache.block_tokens() + 1;
    // A prefill streams what is on the host; where it cannot, its rows are taken a few at a time, as in decoding.
    if (qkv.count() > kFewRows && !any_on_host(l, first_block, last_block))
        attend_many(a);
    else
        for (int row = 0; row < qkv.count(); row += kFewRows)
            attend_few(a, row, std::min(kFewRows, qkv.count() - row));
}

bool CudaBackend::any_on_host(int l, int first_block, int last_block) const
{
    const std::uint64_t* table = block_table(l);
    return std::find(table + first_block, table + last_block, 0u) != table + last_block;
}

void CudaBackend::attend_many(const Attending& a)
{
    const int last_block = (a.first + a.qkv.count() - 1) / a.cache.block_tokens() + 1;
    const int first_block = a.cache.layer(a.l).first_block(a.first);
    KvBlocks runs = a.cache.open(a.sequence, a.l, first_block, last_block);
    while (runs.next()) {
        cuda::Attention launch = a.launch;
        launch.begin = runs.first();
        launch.end = runs.last();
        const cuda::Carried carried{cuda_address(carried_), runs.first() == first_block, runs.last() == last_block};
        run([&] {
            return cuda::attend_many(driver_, queue_, launch, carried, cuda_address(a.p.sinks), cuda_rows(a.out));
        });
    }
}

/// Rows [row, row + rows), kFewRows at most.
void CudaBackend::attend_few(const Attending& a, int row, int rows)
{
    const int position = a.first + row;
    const int last_block = (position + rows - 1) / a.cache.block_tokens() + 1;
    const int first_block = a.cache.layer(a.l).first_block(position);
    const bool merges = any_on_host(a.l, first_block, last_block);
    if (merges)
        send_queries(a, row, rows);

    cuda::Attention launch = a.launch;
    launch.rows = rows;
    launch.first = cuda_address(positions_ + std::size_t(row) * sizeof(int));
    launch.q.at = cuda_address(a.qkv.row(row));
    launch.q_scale = cuda_address(a.p.q_scale + row);
    KvBlocks runs = a.cache.open(a.sequence, a.l, first_block, last_block);
    while (runs.next()) {
        launch.begin = runs.first();
        launch.end = runs.last();
        run([&] { return cuda::attend_blocks(driver_, queue_, launch); });
    }
    if (merges)
        attend_rest(a, row, rows);
    const cuda::Rows out{cuda_address(a.out.row(row)), a.out.cols()};
    run([&] {
        return cuda::merge_partials(driver_, queue_, launch, merges ? cuda_address(elsewhere_) : 0,
                                    cuda_address(a.p.sinks), out);
    });
}

/// The queries go to the host, before the device attends its own blocks.
void CudaBackend::send_queries(const Attending& a, int row, int rows)
{
    const std::size_t bytes = query_bytes(a);
    for (int r = 0; r < rows; ++r)
        run([&] {
            return driver_.copy_to_host(host_part_.data() + std::size_t(r) * bytes, cuda_address(a.qkv.row(row + r)),
                                        bytes, queue_);
        });
    run([&] { return driver_.record(queries_there_, queue_); });
}

/// The blocks that lie on the host, while the device attends its own.
void CudaBackend::attend_rest(const Attending& a, int row, int rows)
{
    run([&] { return driver_.synchronize(queries_there_); });
    if (failed_ != CudaStatus::Ok)
        return;
    const std::size_t floats = cuda::elsewhere_floats(a.p.heads.heads, a.p.heads.value_length);
    auto* const partials = reinterpret_cast<float*>(host_part_.data() + query_bytes(a) * kFewRows);
    for (int r = 0; r < rows; ++r) {
        const auto* q = reinterpret_cast<const float*>(host_part_.data() + std::size_t(r) * query_bytes(a));
        cpu_.attend_host_blocks(q, host_->tables.q_scale()[row + r], a.p, a.l, a.cache, a.sequence, a.first + row + r,
                                partials + std::size_t(r) * floats);
    }
    const std::size_t bytes = std::size_t(rows) * floats * sizeof(float);
    run([&] { return driver_.copy_to_device(cuda_address(elsewhere_), partials, bytes, queue_); });
}

std::size_t CudaBackend::query_bytes(const Attending& a)
{
    return std::size_t(a.p.heads.heads) * std::size_t(a.p.heads.key_length) * sizeof(float);
}

}  // namespace engine
