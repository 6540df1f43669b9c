#include "engine/plan/prefill_chunk.h"

#include "engine/exec/cuda_backend.h"
#include "engine/exec/launch_work.h"
#include "engine/plan/expert_stream.h"
#include "engine/plan/model_costs.h"
#include "kernels/cuda/driver.h"

#include <algorithm>
#include <optional>

namespace engine {

namespace {

constexpr int kMostPairs = 65535;  // rows of a grid: no step may have more pairs of a row and an expert

bool on_gpu(const LoadRequest& request)
{
    return request.placement.device == PlacementOptions::Device::Cuda;
}

std::optional<kernels::cuda::DeviceInfo> gpu_of(const LoadRequest& request)
{
    for (const auto& listed : kernels::cuda::list_devices(kernels::cuda::platform()))
        if (listed.info.ordinal == request.placement.cuda_ordinal && listed.problem.empty())
            return listed.info;
    return std::nullopt;
}

/// Says whether experts will lie on the host and come to the GPU for a prompt. Each step brings them over the link
/// again, so it is worth many rows however small the GPU is. KV and scratch drive some out of a memory that the weights
/// nearly fill.
bool brings_experts(const PlacementOptions& wish, const Hyperparameters& h, const Weights& weights,
                    std::int64_t gpu_bytes, std::optional<std::int64_t> host_bytes)
{
    return h.experts > 0 && holds_experts_twice(h, weights, host_bytes) &&
           (wish.host_expert_layers.value_or(0) > 0 || weights.bytes > gpu_bytes / 4 * 3);
}

/// Returns the operations that the largest product of a step has for each of its rows. Products that a file may have in
/// one matrix count together.
std::int64_t operations_of_row(const Hyperparameters& h)
{
    std::int64_t products = std::int64_t(2) * h.experts_used * h.expert_ffn_length * h.expert_length;
    for (const LayerParameters& layer : h.layers) {
        const int key = h.latent ? h.latent.key_length : layer.key_length;
        const int value = h.latent ? h.latent.value_length : layer.value_length;
        const int heads = layer.heads * key + layer.kv_heads * (key + value);
        const int widest =
            std::max({heads, layer.heads * value, 2 * layer.ffn_length, h.recurrent_input_cols(layer.mixer)});
        products = std::max(products, std::int64_t(widest) * h.embedding_length);
    }
    return 2 * products;
}

int chunk_of_gpu(const LoadRequest& request, const Hyperparameters& h, int context, const Weights& weights,
                 std::optional<std::int64_t> host_bytes, const kernels::cuda::DeviceInfo& gpu)
{
    std::int64_t memory = std::int64_t(gpu.memory_bytes);
    if (request.placement.vram_budget_bytes > 0)
        memory = std::min(memory, request.placement.vram_budget_bytes);
    const KvCache none(kv_shapes(h, request), request.kv_block_tokens, 0);
    const int busy_rows = brings_experts(request.placement, h, weights, memory, host_bytes)
                              ? kLongestOwnChunk
                              : kRowsOfMultiprocessor * gpu.multiprocessors;
    const auto suits = [&](int rows) {
        return rows <= busy_rows && rows * h.experts_used <= kMostPairs &&
               CudaBackend::scratch_bytes(h, none, std::min(rows, context), context) <= memory / kShareOfChunk;
    };
    int rows = context > kPrefillChunk ? kLongestOwnChunk : kPrefillChunk;
    while (rows > kPrefillChunk && !suits(rows))
        rows /= 2;
    while (rows > kShortestOwnChunk && rows * operations_of_row(h) > most_operations(gpu))
        rows /= 2;
    return rows;
}

}  // namespace

LoadRequest with_prefill_chunk(LoadRequest request, const Hyperparameters& h, int context, const Weights& weights,
                               std::optional<std::int64_t> host_bytes)
{
    if (request.prefill_chunk_tokens > 0)
        return request;
    request.prefill_chunk_tokens = kPrefillChunk;
    if (on_gpu(request))
        if (const auto gpu = gpu_of(request))
            request.prefill_chunk_tokens = chunk_of_gpu(request, h, context, weights, host_bytes, *gpu);
    return request;
}

int longest_prefill_chunk(const LoadRequest& request)
{
    if (request.prefill_chunk_tokens > 0)
        return request.prefill_chunk_tokens;
    return on_gpu(request) ? kLongestOwnChunk : kPrefillChunk;
}

}  // namespace engine
