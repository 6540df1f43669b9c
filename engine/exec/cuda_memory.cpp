#include "engine/exec/cuda_memory.h"

#include "engine/exec/cuda_experts.h"
#include "kernels/cuda/ops.h"

#include <algorithm>
#include <new>
#include <utility>

namespace engine {

namespace cuda = kernels::cuda;

std::byte* CudaArena::take(std::size_t bytes)
{
    if (cuda_aligned(bytes) > std::size_t(end_ - next_))
        throw std::bad_alloc();
    return std::exchange(next_, next_ + cuda_aligned(bytes));
}

CudaStaging::~CudaStaging()
{
    if (data_)
        (void)device_->driver().free_pinned(data_);
}

Status CudaStaging::allocate(const CudaDevice& device, std::size_t bytes)
{
    const auto memory = device.driver().alloc_pinned(bytes);
    if (memory.status == cuda::Status::OutOfMemory)
        return fail(Error::Code::DeviceFull,
                    "the system has no page-locked memory left for " + device.driver().info().name);
    if (Status ok = device.checked(memory.status); !ok)
        return ok;
    device_ = &device;
    data_ = static_cast<std::byte*>(memory.value);
    return {};
}

CudaSizes::CudaSizes(const Hyperparameters& h, const KvCache& cache, int max_rows, int max_tokens)
    : max_rows(max_rows)
    , head_rows(h.streams.several() ? 1 : std::min(max_rows, kHeadRows))
    , max_blocks((max_tokens + cache.block_tokens() - 1) / cache.block_tokens() + 1)
    , layers(int(h.layers.size()))
    , v_dim(h.longest_value())
    , experts(h.experts)
    , most_ranked(std::min(cuda::kMostRanked, (h.vocabulary - 1) / 2))  // more take as many bytes as all logits
    , sixteen_bits(h.experts > 0)
{
    int all_heads = 0;  // of queries, keys and values
    for (const LayerParameters& layer : h.layers) {
        heads = std::max(heads, layer.heads);
        all_heads = std::max(all_heads, layer.heads + 2 * layer.kv_heads);
    }
    const int groups = std::max(widest_ffn(h), h.experts_used * h.expert_ffn_length) / 32;
    CountedMemory counted(kCudaAlignment);
    Activations(h, max_rows, counted, head_rows).take_rounded(sixteen_bits);
    if (h.experts > 0)
        CudaExpertRows(h, max_rows, counted);
    activations = std::size_t(counted.bytes());
    positions = std::size_t(max_rows + 1) * sizeof(int);
    block_tables = std::size_t(layers) * std::size_t(max_blocks) * sizeof(std::uint64_t);
    expert_places = std::size_t(layers) * std::size_t(experts) * sizeof(std::uint64_t);
    const auto partials_of = [&](int rows) {
        return cuda::PartialsLayout(rows, max_blocks, cache.block_tokens(), heads, v_dim).bytes;
    };
    few_rows = int(std::clamp<std::size_t>(kMostPartials / std::max(partials_of(1), std::size_t(1)), 1, kFewRows));
    partials = partials_of(few_rows);
    counters = std::size_t(std::max({1, all_heads, groups, heads * few_rows})) * sizeof(unsigned);
    host_partials = std::size_t(kFewRows * cuda::HostPartialsLayout{heads, v_dim}.floats()) * sizeof(float);
    rank_scratch = cuda::RankLayout(h.vocabulary, most_ranked).bytes;
    ranked = std::size_t(2 * most_ranked + 1) * sizeof(float);
    carried = cuda::carried_bytes(max_rows, heads, v_dim);
    const int longest_head = h.latent ? std::max(h.latent.rank, h.latent.plain) : 0;
    rounded_heads = std::size_t(longest_head > 0 ? max_rows * heads : 0) *
                    kernels::activation_row_bytes(kernels::Activation::Q8, longest_head);
}

std::size_t CudaSizes::device() const
{
    return activations + cuda_aligned(positions) + cuda_aligned(block_tables) + cuda_aligned(expert_places) +
           cuda_aligned(partials) + cuda_aligned(carried) + cuda_aligned(rank_scratch) + cuda_aligned(ranked) +
           cuda_aligned(counters) + (sixteen_bits ? 2 : 1) * cuda_aligned(rounded_heads);
}

}  // namespace engine
