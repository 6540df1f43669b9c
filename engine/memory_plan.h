// Computes what a model takes in memory from its header alone. The same numbers choose the context when the model is
// loaded and tell a list of models which of them fit.
#pragma once

#include "engine/engine.h"
#include "engine/machine.h"

#include <cstdint>
#include <optional>

namespace engine {

struct MemoryNeed {
    std::int64_t weight_bytes = 0;
    std::int64_t kv_bytes = 0;     // of one conversation that fills the context
    std::int64_t state_bytes = 0;  // of its recurrent layers, checkpoints included
    std::int64_t scratch_bytes = 0;
    std::int64_t draft_bytes = 0;  // all that a draft model takes, whose context is as long
    std::int64_t total() const;
};

/// Plans for the context of the request; 0 there is the model's own. The request's paths do not matter. `draft`: a
/// draft model beside it, here and below; null: there is none.
MemoryNeed memory_need(const ModelInfo& model, const LoadRequest& request, const ModelInfo* draft = nullptr);

/// Returns how the draft model of a request is loaded, for a context of this many tokens.
LoadRequest as_draft(const LoadRequest& request, int context_tokens);

/// Returns the tokens whose KV fits into `budget_bytes` beside weights and scratch, in whole KV blocks; never more than
/// the context of the request (0 there: the model's own), and 0 where not even one block fits.
int largest_context(const ModelInfo& model, const LoadRequest& request, std::int64_t budget_bytes,
                    const ModelInfo* draft = nullptr);

enum class Fit {
    Unknown,              // the machine or the file does not tell enough
    Fits,                 // with memory to spare
    FitsWithLessContext,  // with memory to spare at `largest_context`
    Tight,                // only if next to nothing is left for other programs
    DoesNotFit,           // not even with a short context
};

struct FitReport {
    Fit fit = Fit::Unknown;
    int context_tokens = 0;   // asked for
    MemoryNeed need;          // at that context
    int largest_context = 0;  // tokens that fit now, with memory to spare unless it is tight
    MachineMemory memory;     // what was there
};

FitReport fit_in_memory(const ModelInfo& model, const LoadRequest& request, const MachineMemory& memory,
                        const ModelInfo* draft = nullptr);

/// Left to the rest of the machine where there is a choice.
constexpr std::int64_t kMemoryMarginBytes = std::int64_t(1) << 30;
/// A shorter context is not offered: too little to talk in.
constexpr int kShortestContext = 2048;

}  // namespace engine
