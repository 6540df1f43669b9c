// ModelOnHost names the parts of a model that a device works with: its shape, its weights, its KV, and the CPU that
// computes the rest.
#pragma once

#include "engine/exec/cpu_backend.h"
#include "engine/exec/host_weights.h"
#include "engine/kv/kv_cache.h"
#include "engine/model/weights.h"

namespace engine {

/// All of it belongs to the loaded model and lives as long.
struct ModelOnHost {
    const Hyperparameters& h;
    const Weights& weights;  // as in the file
    HostWeights& host_weights;
    CpuBackend& cpu;
    KvCache& cache;
};

/// Says how large steps may be, and what scratch the host computes them in.
struct StepLimits {
    int max_rows = 0;
    int max_tokens = 0;  // of a sequence
    std::int64_t scratch_bytes = 0;
};

}  // namespace engine
