#include "engine/plan/model_costs.h"

#include "engine/engine.h"
#include "engine/exec/cpu_backend.h"
#include "engine/exec/cuda_backend.h"
#include "engine/exec/decoder.h"
#include "engine/exec/thread_pool.h"
#include "engine/kv/device_states.h"
#include "engine/model/device_weights.h"
#include "engine/model/expert_cache.h"
#include "kernels/cpu.h"

#include <algorithm>
#include <initializer_list>

namespace engine {

namespace {

void add_read(LayerWork& work, const WeightRead& read)
{
    const auto same = std::ranges::find_if(work.reads, [&](const WeightRead& r) {
        return r.type == read.type && r.row_length == read.row_length && r.alone == read.alone;
    });
    if (same == work.reads.end())
        work.reads.push_back(read);
    else
        same->bytes += read.bytes;
}

void add_read(LayerWork& work, const Matrix& matrix, bool alone, int times = 1)
{
    if (matrix)
        add_read(work, {matrix.type, matrix.n, std::int64_t(matrix.bytes()) * times, alone});
}

/// Adds matrices that are multiplied as one operation, which is divided among the threads where that pays.
void add_operation(LayerWork& work, std::initializer_list<const Matrix*> matrices)
{
    std::int64_t products = 0;
    for (const Matrix* matrix : matrices)
        products += *matrix ? std::int64_t(matrix->rows) * matrix->n : 0;
    const bool alone = !ThreadPool::sharing_pays(products);
    for (const Matrix* matrix : matrices)
        add_read(work, *matrix, alone);
    work.operations += !alone;
}

/// Returns the work of a layer's routed experts and router, which the host does for a device that leaves them to it.
LayerWork experts_work(const Hyperparameters& h, const LayerWeights& w)
{
    LayerWork work;
    if (!w.router)
        return work;
    add_operation(work, {&w.router});
    for (const Matrix* stack : {&w.gate_experts, &w.up_experts, &w.down_experts})
        add_read(work, *stack, false, h.experts_used);
    work.values =
        h.experts + h.experts_used * (3 * std::int64_t(h.expert_ffn_length) + 3 * std::int64_t(h.expert_length));
    work.operations += 5;  // of the chosen experts
    return work;
}

void add_work(const LayerWork& more, LayerWork& work)
{
    for (const WeightRead& read : more.reads)
        add_read(work, read);
    work.values += more.values;
    work.operations += more.operations;
}

LayerWork layer_work(const Hyperparameters& h, const LayerWeights& w, const LayerParameters& p)
{
    LayerWork work;
    work.key_length = p.key_length;
    work.value_length = p.value_length;
    work.values_in_keys = bool(h.latent);
    const std::int64_t attended = std::int64_t(p.heads) * p.value_length;
    if (attends(p.mixer)) {
        work.group = p.heads / p.kv_heads;
        work.divided_tokens = double(ThreadPool::kWorthSharing) / double(attended);
        work.operations = 1;  // attention
    }
    const bool values_are_keys = w.k && !w.v;
    add_operation(work, {&w.qkv, &w.q, &w.k, values_are_keys ? &w.k : &w.v, &w.attn_gate});
    add_operation(work, {&w.q_low});
    add_operation(work, {&w.kv_low});
    for (const Matrix* stack : {&w.k_up, &w.v_up}) {
        add_read(work, *stack, false, w.stacked_heads);
        work.operations += bool(*stack);
    }
    add_operation(work, {&w.attn_out});
    add_operation(work, {&w.mix_in, &w.mix_gate, &w.mix_beta, &w.mix_alpha});
    add_operation(work, {&w.mix_out});
    add_operation(work, {&w.gate, &w.up});
    add_operation(work, {&w.down});
    add_operation(work, {&w.shared_weight});
    add_operation(work, {&w.latent_down});
    add_operation(work, {&w.latent_up});
    add_operation(work, {&w.altup.router});
    add_operation(work, {&w.altup.laurel_down});
    add_operation(work, {&w.altup.laurel_up});
    add_operation(work, {&w.side_gate});
    add_operation(work, {&w.side_out});

    const std::int64_t dim = h.embedding_length;
    const std::int64_t qk = std::int64_t(p.heads + p.kv_heads) * p.key_length;
    // Counts two norms, two sums and two roundings of the residual stream, and the queries and keys, which are rotated
    // and in some models normed.
    work.values = 6 * dim + qk + (w.attn_gate ? 2 : 1) * attended + (w.q_norm ? qk : 0) + (w.attn_post_norm ? dim : 0) +
                  (w.ffn_post_norm ? dim : 0);
    add_work(experts_work(h, w), work);
    if (is_recurrent(p.mixer)) {
        work.operations += 2;  // the convolution, and the states of the heads
        work.values += 2 * (h.state_space.conv_channels() + h.state_space.inner());
        work.state_bytes = std::int64_t(h.state_space.floats()) * std::int64_t(sizeof(float));
    }
    work.state_bytes += p.ngrams ? h.ngram_floats() * std::int64_t(sizeof(float)) : 0;
    if (h.latent)  // norms of what both are made of, and each head's query before and after its product
        work.values +=
            h.latent.query_rank + h.latent.rank + std::int64_t(p.heads) * (h.latent.key_length + p.key_length);
    if (w.down)
        work.values += 3 * std::int64_t(p.ffn_length);
    if (w.experts_norm)
        work.values += 6 * dim;  // norms of both parts, and their sum
    if (w.side_gate)
        work.values += 4 * dim + 3 * std::int64_t(h.side_length);
    for (const StreamConnection* c : {&w.attn_streams, &w.ffn_streams}) {
        add_operation(work, {&c->down});
        add_operation(work, {&c->up});
        add_operation(work, {&c->inject});
        work.values += c->norm ? 5 * h.streams.count * dim : 0;
    }
    add_operation(work, {&w.ngrams.key});
    add_operation(work, {&w.ngrams.value});
    if (w.ngrams.key)
        work.values += 8 * h.streams.count * dim;
    if (w.altup.router)
        work.values += (6 * h.streams.count + 8) * dim;
    return work;
}

bool rounds(const Matrix& matrix)
{
    return matrix && kernels::activation_of(matrix.type) == kernels::Activation::Q8;
}

}  // namespace

std::int64_t LayerWork::read_bytes() const
{
    std::int64_t bytes = 0;
    for (const WeightRead& read : reads)
        bytes += read.bytes;
    return bytes;
}

ModelCosts model_costs(const Hyperparameters& h, const Weights& weights)
{
    ModelCosts costs;
    for (std::size_t l = 0; l < h.layers.size(); ++l) {
        const LayerParameters& p = h.layers[l];
        costs.layers.push_back(layer_work(h, weights.layers[l], p));
        costs.experts.push_back(experts_work(h, weights.layers[l]));
        costs.kv_heads.push_back(p.kv_heads);
        costs.windows.push_back(p.kind == LayerKind::SlidingWindow ? h.sliding_window : 0);
    }
    add_operation(costs.head, {&weights.head.output});
    for (const Matrix& matrix : weights.head.stream_out)
        add_operation(costs.head, {&matrix});
    add_operation(costs.head, {&weights.head.streams.down});
    add_operation(costs.head, {&weights.head.streams.up});
    add_operation(costs.side, {&weights.side_projection});
    for (const Matrix& matrix : weights.stream_in)
        add_operation(costs.side, {&matrix});
    costs.side.values = 4 * std::int64_t(weights.side_projection.rows);
    costs.head.values = 3 * std::int64_t(h.embedding_length);
    costs.vocabulary = h.vocabulary;
    costs.context_length = h.context_length;
    costs.weight_bytes = weights.bytes;
    costs.multiplies_twice = h.experts > 0;
    return costs;
}

kernels::KvType kernel_type(KvType type)
{
    switch (type) {
    case KvType::F32:
        return kernels::KvType::F32;
    case KvType::Q8_0:
        return kernels::KvType::Q8_0;
    case KvType::F16:
        break;
    }
    return kernels::KvType::F16;
}

KvType kv_type(kernels::KvType type)
{
    switch (type) {
    case kernels::KvType::F32:
        return KvType::F32;
    case kernels::KvType::Q8_0:
        return KvType::Q8_0;
    case kernels::KvType::F16:
        break;
    }
    return KvType::F16;
}

std::vector<int> state_floats(const Hyperparameters& h)
{
    std::vector<int> floats;
    for (int l = 0; l < int(h.layers.size()); ++l)
        floats.push_back(h.state_floats(l));
    return floats;
}

std::vector<KvLayerShape> kv_shapes(const Hyperparameters& h, const LoadRequest& request)
{
    std::vector<KvLayerShape> shapes;
    for (const LayerParameters& layer : h.layers) {
        kernels::KvBlockLayout block{.k_dim = layer.key_length,
                                     .v_dim = layer.value_length,
                                     .tokens = request.kv_block_tokens,
                                     .values_in_keys = bool(h.latent)};
        block.set_types(kernel_type(request.k_type), kernel_type(request.v_type));
        shapes.push_back(
            {layer.kv_heads, block, layer.kind == LayerKind::SlidingWindow ? h.sliding_window : 0, layer.kv_source});
    }
    return shapes;
}

/// Says whether experts may have copies on a device: a GPU's kernels find no factors of experts beside the copies.
static bool may_have_copies(const LayerWeights& w, DeviceLayout::Transport transport)
{
    return transport == DeviceLayout::Transport::Copies ||
           !(w.gate_experts.scale || w.up_experts.scale || w.down_experts.scale);
}

DeviceLayout device_layout(const Hyperparameters& h, const Weights& weights, std::span<const KvLayerShape> kv,
                           std::int64_t scratch_bytes, DeviceLayout::Transport transport)
{
    std::vector<LayerBytes> layers;
    for (std::size_t l = 0; l < kv.size(); ++l)
        layers.push_back(
            {.weights = DeviceLayer::bytes(weights.layers[l], h, int(l)),
             .experts = DeviceLayer::bytes(weights.layers[l], h, int(l), LayerPart::Experts),
             .expert = may_have_copies(weights.layers[l], transport) ? ExpertCache::slot_bytes(weights.layers[l]) : 0,
             .kv_block = std::int64_t(kv[l].bytes()),
             .window = kv[l].window,
             .state = DeviceStates::bytes(std::size_t(h.state_floats(int(l))) * sizeof(float))});
    layers.back().weights += DeviceHead::bytes(weights.head, h, int(kv.size()));  // it goes with the last layer
    return {std::move(layers), kv.front().block.tokens, scratch_bytes, transport};
}

std::int64_t scratch_bytes(const Hyperparameters& h, const Weights& weights, const ScratchFor& made_for)
{
    const auto any = [&](auto... matrices) {
        return std::ranges::any_of(weights.layers, [&](const LayerWeights& w) { return (rounds(w.*matrices) || ...); });
    };
    const auto round = [&](bool wanted, Rows& rows) {
        if (wanted)
            rows.q8(0);
        if (wanted && h.experts > 0)
            rows.q8_residual(0);
    };
    using W = LayerWeights;
    CountedMemory memory;
    Activations rows(h, made_for.rows, memory);
    const Architecture& a = *h.architecture;
    const Rows together(std::min(kMostRowsTogether, made_for.rows), h.vocabulary, memory);
    const Rows projected(weights.side_projection ? made_for.rows : 0, weights.side_projection.rows, memory);
    const bool low_queries = h.latent.query_rank > 0;  // q reads what q_low made
    const bool attention = any(&W::qkv, &W::k, &W::v, &W::attn_gate, &W::mix_in, &W::mix_gate, &W::mix_beta,
                               &W::mix_alpha, &W::q_low, &W::kv_low) ||
                           (!low_queries && any(&W::q));
    const bool feed_forward = any(&W::gate, &W::up, &W::router, &W::shared_weight, &W::latent_down);
    const bool attention_hidden = Activations::attention_reads_hidden(a);
    const bool feed_forward_hidden = Activations::feed_forward_reads_hidden(a);
    const auto any_altup = [&](Matrix AltUpWeights::*matrix) {
        return std::ranges::any_of(weights.layers, [&](const LayerWeights& w) { return rounds(w.altup.*matrix); });
    };
    const bool side_hidden = any(&W::side_gate) && !h.streams.several();
    const bool side_x = (any(&W::side_gate) && h.streams.several()) || any_altup(&AltUpWeights::router);
    const bool host_hidden = rounds(weights.side_projection) || rounds(weights.stream_in.front());
    round((attention && !attention_hidden) || (feed_forward && !feed_forward_hidden) || side_x, rows.x);
    round((attention && attention_hidden) || (feed_forward && feed_forward_hidden) || side_hidden || host_hidden,
          rows.hidden);
    const auto any_connection = [&](Matrix StreamConnection::*matrix) {
        const auto rounds_it = [&](const StreamConnection& c) { return rounds(c.*matrix); };
        return rounds_it(weights.head.streams) || std::ranges::any_of(weights.layers, [&](const LayerWeights& w) {
                   return rounds_it(w.attn_streams) || rounds_it(w.ffn_streams);
               });
    };
    round(any_altup(&AltUpWeights::laurel_up) || any_connection(&StreamConnection::up), rows.low_rank);
    round(any_connection(&StreamConnection::down) || any_connection(&StreamConnection::inject), rows.stream_norms);
    round(std::ranges::any_of(weights.layers,
                              [](const LayerWeights& w) { return rounds(w.ngrams.key) || rounds(w.ngrams.value); }),
          rows.side);
    round(a.dense_beside_experts && any(&W::router), rows.routed);
    round(any(&W::latent_up), rows.expert_sum);
    round(low_queries && any(&W::q), rows.query_low);
    round(any(&W::attn_out, &W::mix_out), rows.attended);
    round(any(&W::down, &W::side_out), rows.inner);
    round(rounds(weights.head.output) || rounds(weights.head.stream_out.front()), rows.last_x);
    if (h.experts > 0) {
        const int pairs = made_for.rows * h.experts_used;
        const Rows router(made_for.rows, h.experts, memory), gate_up(pairs, 2 * h.expert_ffn_length, memory);
        const Rows out(pairs, h.expert_length, memory);
        Rows in(pairs, h.expert_length, memory), hidden(pairs, h.expert_ffn_length, memory);
        round(any(&W::gate_experts, &W::up_experts), in);
        round(any(&W::down_experts), hidden);
    }
    return memory.bytes() +
           std::int64_t(CpuBackend::worker_bytes(h, made_for.rows, made_for.block_tokens, made_for.threads,
                                                 made_for.runs == AttentionRuns::Several));
}

std::int64_t cuda_scratch_bytes(const Hyperparameters& h, const KvCache& cache, int max_rows, int max_tokens,
                                const DeviceRates& rates)
{
    return CudaBackend::scratch_bytes(h, cache, max_rows, max_tokens) +
           (rates.multiplies_by_blas() ? CudaBlas::bytes(h, max_rows) : 0);
}

}  // namespace engine
