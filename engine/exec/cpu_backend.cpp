#include "engine/exec/cpu_backend.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace engine {

namespace {

// Rows of a batch from which on an elementwise operation is worth waking the workers.
constexpr int kRowsWorthSharing = 4;

}  // namespace

int CpuBackend::widest_row(const Hyperparameters& h)
{
    int most = std::max(h.embedding_length, h.expert_ffn_length);
    for (const LayerParameters& layer : h.layers)
        most = std::max({most, layer.ffn_length, layer.heads * h.value_length});
    return most;
}

CpuBackend::CpuBackend(const Hyperparameters& h, int max_rows, int block_tokens, int threads, bool pinned)
    : h_(h)
    , kernels_(kernels::cpu_kernels())
    , pinned_(pinned)
    , pool_(std::make_unique<ThreadPool>(threads, pinned))
    , block_tokens_(block_tokens)
    , max_rows_(max_rows)
    , key_length_(h.key_length)
    , value_length_(h.value_length)
{
    for (const LayerParameters& layer : h.layers) {
        max_heads_ = std::max(max_heads_, layer.heads);
        max_kv_heads_ = std::max(max_kv_heads_, layer.kv_heads);
        max_group_ = std::max(max_group_, layer.heads / layer.kv_heads);
    }
    sixteen_bits_ = h.experts > 0;
    widest_row_ = widest_row(h);
    attention_ = attention_scratch(pool_->size());
    product_ = product_scratch(pool_->size());
    if (h.experts > 0) {
        const int pairs = max_rows * h.experts_used;
        router_logits_ = Rows(max_rows, h.experts);
        expert_in_ = Rows(pairs, h.embedding_length);
        expert_gate_up_ = Rows(pairs, 2 * h.expert_ffn_length);
        expert_hidden_ = Rows(pairs, h.expert_ffn_length);
        expert_out_ = Rows(pairs, h.embedding_length);
        chosen_expert_.resize(std::size_t(pairs));
        chosen_weight_.resize(std::size_t(pairs));
        sorted_position_.resize(std::size_t(pairs));
        sorted_.resize(std::size_t(pairs));
        expert_count_.resize(std::size_t(h.experts));
        active_experts_.reserve(std::size_t(h.experts));
    }
}

void CpuBackend::set_threads(int threads)
{
    auto pool = std::make_unique<ThreadPool>(threads, pinned_);
    auto attention = attention_scratch(pool->size());
    auto product = product_scratch(pool->size());
    pool_ = std::move(pool);
    attention_ = std::move(attention);
    product_ = std::move(product);
}

std::size_t CpuBackend::scratch_bytes() const
{
    return router_logits_.bytes() + expert_in_.bytes() + expert_gate_up_.bytes() + expert_hidden_.bytes() +
           expert_out_.bytes() + worker_bytes(h_, max_rows_, block_tokens_, threads(), run_sums_ != nullptr);
}

std::size_t CpuBackend::worker_bytes(const Hyperparameters& h, int max_rows, int block_tokens, int threads, bool runs)
{
    return attention_bytes(h, max_rows, block_tokens, threads, runs) + product_bytes(h, threads);
}

void CpuBackend::embed(const Matrix& table, std::span<const int> ids, float scale, Rows& out)
{
    out.set_shape(int(ids.size()), table.n);
    const std::size_t row_bytes = kernels::row_bytes(table.type, table.n);
    pool_->for_each(int(ids.size()), kRowsWorthSharing, [&](int begin, int end, int) {
        for (int t = begin; t < end; ++t) {
            float* row = out.row(t);
            kernels_.dequantize(table.type, table.n, table.data + std::size_t(ids[std::size_t(t)]) * row_bytes, row);
            if (scale != 1.0f)
                for (int i = 0; i < table.n; ++i)
                    row[i] *= scale;
        }
    });
}

void CpuBackend::rms_norm(Rows& x, Vector weight, float epsilon, Rows& out)
{
    out.set_shape(x.count(), x.cols());
    pool_->for_each(x.count(), kRowsWorthSharing, [&](int begin, int end, int) {
        for (int t = begin; t < end; ++t)
            kernels_.rms_norm(x.cols(), x.row(t), weight, epsilon, out.row(t));
    });
}

void CpuBackend::norm_heads(Rows& x, int col, int heads, int length, Vector weight, float epsilon)
{
    x.changed();
    pool_->for_each(x.count(), kRowsWorthSharing, [&](int begin, int end, int) {
        for (int t = begin; t < end; ++t)
            for (int head = 0; head < heads; ++head) {
                float* values = x.row(t) + col + head * length;
                kernels_.rms_norm(length, values, weight, epsilon, values);
            }
    });
}

void CpuBackend::rope_heads(Rows& x, int col, int heads, int length, const Rotation& rotation)
{
    x.changed();
    pool_->for_each(x.count(), kRowsWorthSharing, [&](int begin, int end, int) {
        for (int t = begin; t < end; ++t)
            for (int head = 0; head < heads; ++head)
                kernels_.rope(rotation.neox, 2 * rotation.pairs, rotation.cos + std::size_t(t) * rotation.pairs,
                              rotation.sin + std::size_t(t) * rotation.pairs, x.row(t) + col + head * length);
    });
}

void CpuBackend::gated(Gate gate, const Rows& gate_up, Rows& out)
{
    const int n = gate_up.cols() / 2;
    out.set_shape(gate_up.count(), n);
    pool_->for_each(gate_up.count(), kRowsWorthSharing, [&](int begin, int end, int) {
        for (int t = begin; t < end; ++t) {
            const float* g = gate_up.row(t);
            const float* up = g + n;
            switch (gate) {
            case Gate::Silu:
                kernels_.silu_mul(n, g, up, out.row(t));
                break;
            case Gate::Gelu:
                kernels_.gelu_mul(n, g, up, out.row(t));
                break;
            case Gate::SwigluOai:
                kernels_.swiglu_oai(n, g, up, kSwigluOaiAlpha, kSwigluOaiLimit, out.row(t));
                break;
            }
        }
    });
}

void CpuBackend::add(const Rows& y, Rows& x)
{
    x.changed();
    pool_->for_each(x.count(), kRowsWorthSharing, [&](int begin, int end, int) {
        for (int t = begin; t < end; ++t)
            kernels_.add(x.cols(), y.row(t), x.row(t));
    });
}

void CpuBackend::copy_row(const Rows& from, int row, Rows& to)
{
    to.set_shape(1, from.cols());
    std::copy_n(from.row(row), from.cols(), to.row(0));
}

void CpuBackend::soft_cap(float cap, Rows& x)
{
    x.changed();
    pool_->for_each(x.count(), 1, [&](int begin, int end, int) {
        for (int t = begin; t < end; ++t)
            for (int i = 0; i < x.cols(); ++i)
                x.row(t)[i] = cap * std::tanh(x.row(t)[i] / cap);
    });
}

}  // namespace engine
