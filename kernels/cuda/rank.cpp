#include "kernels/cuda/rank.h"

#include "kernels/cuda/ops.h"

#include <utility>

namespace kernels::cuda {

static int runs_of(int values)
{
    return (values + kRankRun - 1) / kRankRun;
}

RankLayout::RankLayout(int n, int kept)
    : other(std::size_t(runs_of(n)) * std::size_t(kept) * sizeof(std::uint64_t))
    , sums(other + std::size_t(runs_of(runs_of(n) * kept)) * std::size_t(kept) * sizeof(std::uint64_t))
    , bytes(sums + std::size_t(runs_of(n)) * 2 * sizeof(float))
{
}

Status rank(const Driver& driver, Queue queue, DevicePtr logits, int n, int kept, DevicePtr scratch, const Ranked& to)
{
    if (kept < 1 || kept > kMostRanked || kept > n)
        return Status::InvalidValue;
    const RankLayout layout(n, kept);
    DevicePtr from = scratch, other = scratch + layout.other;
    const DevicePtr sums = scratch + layout.sums;
    const int all_runs = runs_of(n);
    Status status = driver.launch_early(Kernel::rank_logits, {unsigned(all_runs)}, {kRankThreads}, 0, queue, logits, n,
                                        kept, from, sums);
    for (int runs = all_runs; runs > 1 && status == Status::Ok; std::swap(from, other)) {
        const int values = runs * kept;
        runs = runs_of(values);
        status = driver.launch_early(Kernel::rank_kept, {unsigned(runs)}, {kRankThreads}, 0, queue, from, values, kept,
                                     other);
    }
    if (status != Status::Ok)
        return status;
    return driver.launch_early(Kernel::rank_result, {1}, {128}, 0, queue, from, kept, sums, all_runs, to.logits,
                               to.indices, to.log_sum);
}

}  // namespace kernels::cuda
