#include "engine/memory_plan.h"

#include "engine/kv/recurrent_states.h"
#include "engine/plan/model_costs.h"
#include "engine/plan/prefill_chunk.h"
#include "kernels/kv_block.h"

#include <algorithm>
#include <limits>

namespace engine {

namespace {

// A draft model reads what it has missed in small steps, between those of the answer.
constexpr int kDraftChunk = 64;

constexpr std::int64_t kFloat16 = 2;
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// A hostile header may claim anything: sums and products stay at the largest number instead of turning over.
std::int64_t sum(std::int64_t a, std::int64_t b)
{
    return a > kMost - b ? kMost : a + b;
}

std::int64_t product(std::int64_t a, std::int64_t b)
{
    return a > 0 && b > kMost / a ? kMost : a * b;
}

/// Returns the bytes of the keys, or the values, of one token and all heads, each with its scale. Of latent attention
/// there are no values.
std::int64_t token_bytes(KvType type, std::int64_t numbers, std::int64_t heads)
{
    if (numbers == 0)
        return 0;
    const kernels::KvType kept = kernel_type(type);
    return sum(product(numbers, std::int64_t(kernels::kv_value_bytes(kept))),
               product(heads, std::int64_t(kernels::kv_scale_bytes(kept))));
}

/// Returns the bytes of one page: a block of tokens in all layers, and in the block that guesses ahead.
std::int64_t page_bytes(const ModelInfo& model, const LoadRequest& request)
{
    const MemoryShape& shape = model.memory;
    const std::int64_t token = sum(token_bytes(request.k_type, shape.key_numbers, shape.kv_heads),
                                   token_bytes(request.v_type, shape.value_numbers, shape.kv_heads));
    return product(sum(token, product(shape.mtp_numbers, kFloat16)), request.kv_block_tokens);
}

int wanted_context(const ModelInfo& model, const LoadRequest& request)
{
    return request.context_tokens > 0 ? request.context_tokens : model.context_tokens;
}

}  // namespace

std::int64_t MemoryNeed::total() const
{
    return sum(sum(sum(weight_bytes, state_bytes), sum(kv_bytes, scratch_bytes)), draft_bytes);
}

LoadRequest as_draft(const LoadRequest& request, int context_tokens)
{
    LoadRequest draft;
    draft.model = request.draft_model;
    draft.context_tokens = context_tokens;
    draft.threads = request.threads;
    draft.pin_threads = request.pin_threads;
    draft.prefill_chunk_tokens = kDraftChunk;
    draft.kv_block_tokens = request.kv_block_tokens;
    return draft;
}

MemoryNeed memory_need(const ModelInfo& model, const LoadRequest& request, const ModelInfo* draft)
{
    const int context = wanted_context(model, request);
    const std::int64_t pages = (std::int64_t(context) + request.kv_block_tokens - 1) / request.kv_block_tokens;
    const int rows = std::min(longest_prefill_chunk(request), context);
    return {sum(model.weight_bytes, model.memory.mtp_weight_bytes), product(pages, page_bytes(model, request)),
            product(model.memory.state_bytes, RecurrentStates::kMostOfSequence),
            sum(product(rows, model.memory.scratch_bytes_per_row), model.memory.scratch_bytes_fixed),
            draft ? memory_need(*draft, as_draft(request, context)).total() : 0};
}

int largest_context(const ModelInfo& model, const LoadRequest& request, std::int64_t budget_bytes,
                    const ModelInfo* draft)
{
    const int wanted = wanted_context(model, request);
    const auto without_kv = [](const MemoryNeed& need) {
        return sum(need.weight_bytes, sum(need.state_bytes, need.scratch_bytes));
    };
    std::int64_t page = page_bytes(model, request);
    std::int64_t left = budget_bytes - without_kv(memory_need(model, request));
    if (draft) {
        const LoadRequest beside = as_draft(request, wanted);
        page = sum(page, page_bytes(*draft, beside));
        left -= without_kv(memory_need(*draft, beside));
    }
    if (left < page || page == 0)
        return page == 0 && left >= 0 ? wanted : 0;
    return int(std::min<std::int64_t>(wanted, product(left / page, request.kv_block_tokens)));
}

FitReport fit_in_memory(const ModelInfo& model, const LoadRequest& request, const MachineMemory& memory,
                        const ModelInfo* draft)
{
    FitReport report;
    report.context_tokens = wanted_context(model, request);
    report.need = memory_need(model, request, draft);
    report.memory = memory;
    const auto available = memory.for_next_model_bytes();
    if (!available || model.memory.kv_heads == 0 || model.weight_bytes == 0 || report.context_tokens == 0)
        return report;

    const int enough = std::min(report.context_tokens, kShortestContext);
    const std::int64_t spare = *available - kMemoryMarginBytes;
    report.largest_context = largest_context(model, request, spare, draft);
    if (report.need.total() <= spare) {
        report.fit = Fit::Fits;
    } else if (report.largest_context >= enough) {
        report.fit = Fit::FitsWithLessContext;
    } else {
        report.largest_context = largest_context(model, request, *available, draft);
        report.fit = report.largest_context >= enough ? Fit::Tight : Fit::DoesNotFit;
    }
    return report;
}

}  // namespace engine
