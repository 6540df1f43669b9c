// ModelCosts holds what a step of a model costs: the bytes it reads and the values it computes. Values only, no
// weights.
#pragma once

#include "engine/engine.h"
#include "engine/kv/kv_cache.h"
#include "engine/kv/kv_shape.h"
#include "engine/machine_rates.h"
#include "engine/model/hyperparameters.h"
#include "engine/model/weights.h"
#include "engine/plan/device_bytes.h"

#include <span>
#include <vector>

namespace engine {

/// Weights of one type and row length that a decode step reads.
struct WeightRead {
    kernels::TensorType type = kernels::TensorType::F32;
    int row_length = 0;
    std::int64_t bytes = 0;
    bool alone = false;  // on one thread: too little to be divided
};

/// One layer in a decode step, or the head.
struct LayerWork {
    std::vector<WeightRead> reads;  // of the experts only those that are used
    std::int64_t values = 0;        // activations that norms, rotations, gates and rounding read
    int operations = 0;             // that are divided among the threads
    int group = 1;                  // query heads to a KV head
    int key_length = 0, value_length = 0;
    bool values_in_keys = false;
    double divided_tokens = 0;     // from this many on its attention is divided among the threads
    std::int64_t state_bytes = 0;  // of a recurrent layer: read and written for each token
    std::int64_t read_bytes() const;
};

struct ModelCosts {
    std::vector<LayerWork> layers;
    LayerWork head;  // the final norm and the product with the vocabulary
    LayerWork side;  // what makes the layers' side inputs, always on the host; nothing without per-layer embeddings
    int vocabulary = 0;
    int context_length = 0;  // tokens the model was made for
    std::int64_t weight_bytes = 0;
    bool multiplies_twice = false;        // activations of 16 bits, as two parts of 8
    std::vector<int> kv_heads, windows;   // (layers,)
    std::vector<LayerWork> experts = {};  // (layers,) the work of each layer's routed experts and router, a part of it
};

ModelCosts model_costs(const Hyperparameters& h, const Weights& weights);

kernels::KvType kernel_type(KvType type);
KvType kv_type(kernels::KvType type);
/// Returns (layers,) floats of the state of each layer for one sequence.
std::vector<int> state_floats(const Hyperparameters& h);
std::vector<KvLayerShape> kv_shapes(const Hyperparameters& h, const LoadRequest& request);

enum class AttentionRuns { One, Several };

/// Holds what scratch memory is made for.
struct ScratchFor {
    int rows = 0;  // tokens of a prefill chunk
    int block_tokens = 0;
    int threads = 0;
    AttentionRuns runs = AttentionRuns::One;  // several: blocks lie in two memories
};

/// Returns the scratch bytes of the decoder and the CPU's backend, after a whole chunk and one token by itself.
std::int64_t scratch_bytes(const Hyperparameters& h, const Weights& weights, const ScratchFor& made_for);

/// Returns the scratch bytes of a GPU's backend, and of cuBLAS where that multiplies.
std::int64_t cuda_scratch_bytes(const Hyperparameters& h, const KvCache& cache, int max_rows, int max_tokens,
                                const DeviceRates& rates);

/// Returns the layers as a device holds them; the head goes with the last one.
DeviceLayout device_layout(const Hyperparameters& h, const Weights& weights, std::span<const KvLayerShape> kv,
                           std::int64_t scratch_bytes, DeviceLayout::Transport transport);

}  // namespace engine
