#include "engine/plan/prefill_chunk.h"

#include "engine/exec/cuda_backend.h"
#include "engine/plan/model_costs.h"
#include "kernels/cuda/driver.h"

#include <algorithm>
#include <optional>

namespace engine {

namespace {

constexpr int kMostPairs = 65535;  // rows of a grid: more experts' rows no step may have

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

int chunk_of_gpu(const LoadRequest& request, const Hyperparameters& h, int context,
                 const kernels::cuda::DeviceInfo& gpu)
{
    std::int64_t memory = std::int64_t(gpu.memory_bytes);
    if (request.placement.vram_budget_bytes > 0)
        memory = std::min(memory, request.placement.vram_budget_bytes);
    const KvCache none(kv_shapes(h, request), request.kv_block_tokens, 0);
    const auto suits = [&](int rows) {
        return rows <= kRowsOfMultiprocessor * gpu.multiprocessors && rows * h.experts_used <= kMostPairs &&
               CudaBackend::scratch_bytes(h, none, std::min(rows, context), context) <= memory / kShareOfChunk;
    };
    int rows = kLongestOwnChunk;
    while (rows > kPrefillChunk && !suits(rows))
        rows /= 2;
    return rows;
}

}  // namespace

LoadRequest with_prefill_chunk(LoadRequest request, const Hyperparameters& h, int context)
{
    if (request.prefill_chunk_tokens > 0)
        return request;
    request.prefill_chunk_tokens = kPrefillChunk;
    if (on_gpu(request) && context > kPrefillChunk)
        if (const auto gpu = gpu_of(request))
            request.prefill_chunk_tokens = chunk_of_gpu(request, h, context, *gpu);
    return request;
}

int longest_prefill_chunk(const LoadRequest& request)
{
    if (request.prefill_chunk_tokens > 0)
        return request.prefill_chunk_tokens;
    return on_gpu(request) ? kLongestOwnChunk : kPrefillChunk;
}

}  // namespace engine
