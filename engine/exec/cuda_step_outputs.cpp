#include "engine/exec/cuda_step_outputs.h"

#include "engine/exec/cuda_address.h"

#include <algorithm>
#include <cstring>

namespace engine {

namespace cuda = kernels::cuda;

CudaStepOutputs::CudaStepOutputs(CudaCalls& calls, const CudaSizes& sizes, CudaArena& memory)
    : calls_(calls)
    , most_ranked_(sizes.most_ranked)
    , rank_scratch_(memory.take(sizes.rank_scratch))
    , ranked_(memory.take(sizes.ranked))
{
    largest_.reserve(std::size_t(most_ranked_));
}

Status CudaStepOutputs::allocate(const Activations& like)
{
    const std::size_t row_of_logits =
        like.logits.value_capacity_bytes() / std::size_t(std::max(like.logits.capacity_rows(), 1));
    return staging_.allocate(calls_.device(), std::max(like.carried().value_capacity_bytes(), row_of_logits));
}

void CudaStepOutputs::fetch(const Rows& from, RowRange of, Rows& host)
{
    const RowRange rows = of.of(from.count());
    host.set_shape(rows.count, from.cols());
    const std::size_t bytes = std::size_t(rows.count) * std::size_t(from.cols()) * sizeof(float);
    calls_.run([&] { return calls_.driver().make_current(); });
    calls_.run([&] {
        return calls_.driver().copy_to_host(staging_.data(), cuda_address(from.row(rows.first)), bytes, calls_.queue());
    });
    calls_.run([&] { return calls_.driver().synchronize(calls_.queue()); });
    if (calls_.ok())
        std::memcpy(host.row(0), staging_.data(), bytes);
    else
        std::fill_n(host.row(0), bytes / sizeof(float), 0.0f);  // the values are not used, but may be read
}

RowLogits CudaStepOutputs::fetch_largest(const Rows& logits, int row, int count)
{
    if (count > most_ranked_)
        return {};
    const auto n = std::size_t(count);
    const cuda::DevicePtr found = cuda_address(ranked_);
    const cuda::Ranked to{found, found + n * sizeof(float), found + 2 * n * sizeof(float)};
    const std::size_t bytes = (2 * n + 1) * sizeof(float);
    calls_.run([&] { return calls_.driver().make_current(); });
    calls_.launch(cuda::rank, cuda_address(logits.row(row)), logits.cols(), count, cuda_address(rank_scratch_), to);
    calls_.run([&] { return calls_.driver().copy_to_host(staging_.data(), found, bytes, calls_.queue()); });
    calls_.run([&] { return calls_.driver().synchronize(calls_.queue()); });
    if (!calls_.ok())
        std::fill_n(staging_.data(), bytes, std::byte(0));  // the values are not used, but may be read
    const auto* values = reinterpret_cast<const float*>(staging_.data());
    const auto* ids = reinterpret_cast<const int*>(values + n);
    largest_.clear();
    for (std::size_t i = 0; i < n; ++i)
        largest_.push_back({ids[i], values[i]});
    return {.all = {}, .largest = largest_, .log_sum = values[2 * n]};
}

}  // namespace engine
