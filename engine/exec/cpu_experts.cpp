// Mixture of experts on the CPU. Rows are gathered by expert so that each expert's weights are read once a batch; each
// row's expert outputs are added in the order of their rank, so a batch of any size gives the same bits.
#include "engine/exec/cpu_backend.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace engine {

namespace {

/// In place; the largest first, the lower index first among equals.
void softmax(std::span<float> x)
{
    const float max = *std::max_element(x.begin(), x.end());
    float sum = 0.0f;
    for (float& v : x)
        sum += v = std::exp(v - max);
    for (float& v : x)
        v /= sum;
}

}  // namespace

/// Fills chosen_expert_ and chosen_weight_ from the router's logits.
void CpuBackend::route(Rows& x, const LayerWeights& w, const ExpertParameters& p)
{
    const Product router{&w.router, w.router_bias, 0};
    products(x, std::span(&router, 1), router_logits_);
    const int experts = w.router.rows;
    for (int t = 0; t < x.count(); ++t) {
        const std::span<float> logits(router_logits_.row(t), std::size_t(experts));
        int* chosen = chosen_expert_.data() + std::size_t(t * p.used);
        const std::span<float> weights(chosen_weight_.data() + std::size_t(t * p.used), std::size_t(p.used));
        for (int slot = 0; slot < p.used; ++slot) {
            int best = -1;
            for (int e = 0; e < experts; ++e)
                if (std::find(chosen, chosen + slot, e) == chosen + slot &&
                    (best < 0 || logits[std::size_t(e)] > logits[std::size_t(best)]))
                    best = e;
            chosen[slot] = best;
            weights[std::size_t(slot)] = logits[std::size_t(best)];
        }
        // Softmax over all experts, then over the chosen ones to one again, equals the softmax over the chosen ones.
        softmax(weights);
        for (float& weight : weights)
            weight *= p.weights_scale;
    }
}

/// Counting sort of all (row, slot) pairs by expert.
void CpuBackend::sort_by_expert(int rows, const ExpertParameters& p)
{
    std::fill(expert_count_.begin(), expert_count_.end(), 0);
    const int pairs = rows * p.used;
    for (int i = 0; i < pairs; ++i)
        ++expert_count_[std::size_t(chosen_expert_[std::size_t(i)])];
    active_experts_.clear();
    int first = 0;
    for (int e = 0; e < int(expert_count_.size()); ++e) {
        int& count = expert_count_[std::size_t(e)];
        if (count > 0)
            active_experts_.push_back({e, first, count});
        const int next = first + count;
        count = first;  // from here on: where this expert's next pair goes
        first = next;
    }
    for (int i = 0; i < pairs; ++i) {
        const int position = expert_count_[std::size_t(chosen_expert_[std::size_t(i)])]++;
        sorted_position_[std::size_t(i)] = position;
        sorted_[std::size_t(position)] = {i / p.used, i % p.used};
    }
}

/// out columns [out_col, ...) of each active expert's rows = x times that expert's matrix.
void CpuBackend::expert_products(Rows& x, const Matrix& stack, Vector bias, Rows& out, int out_col)
{
    if (kernels::activation_of(stack.type) == kernels::Activation::Q8)
        round_rows(x);
    const int grain = row_grain(stack.rows * int(active_experts_.size()), x.count());
    const int pieces = (stack.rows + grain - 1) / grain;
    pool_->for_each(int(active_experts_.size()) * pieces, 1, [&](int begin, int end, int worker) {
        for (int item = begin; item < end; ++item) {
            const ExpertRange& range = active_experts_[std::size_t(item / pieces)];
            const Matrix matrix = stack.expert(range.expert);
            const Product product{&matrix, bias ? bias + std::size_t(range.expert) * std::size_t(stack.rows) : nullptr,
                                  out_col};
            const int row = item % pieces * grain;
            run_product(product, x, range.first, range.count, row, std::min(row + grain, stack.rows), out, worker);
        }
    });
}

void CpuBackend::experts(Rows& x, const LayerWeights& w, const ExpertParameters& p, Rows& out)
{
    route(x, w, p);
    sort_by_expert(x.count(), p);
    const int pairs = x.count() * p.used;
    expert_in_.set_shape(pairs, x.cols());
    pool_->for_each(pairs, 16, [&](int begin, int end, int) {
        for (int i = begin; i < end; ++i)
            std::memcpy(expert_in_.row(i), x.row(sorted_[std::size_t(i)].row), std::size_t(x.cols()) * sizeof(float));
    });

    expert_gate_up_.set_shape(pairs, 2 * w.gate_experts.rows);
    expert_products(expert_in_, w.gate_experts, w.gate_experts_bias, expert_gate_up_, 0);
    expert_products(expert_in_, w.up_experts, w.up_experts_bias, expert_gate_up_, w.gate_experts.rows);
    gated(p.gate, expert_gate_up_, expert_hidden_);
    expert_out_.set_shape(pairs, w.down_experts.rows);
    expert_products(expert_hidden_, w.down_experts, w.down_experts_bias, expert_out_, 0);

    out.set_shape(x.count(), w.down_experts.rows);
    pool_->for_each(x.count(), 4, [&](int begin, int end, int) {
        for (int t = begin; t < end; ++t) {
            std::fill_n(out.row(t), out.cols(), 0.0f);
            for (int slot = 0; slot < p.used; ++slot) {
                const auto pair = std::size_t(t * p.used + slot);
                const float* y = expert_out_.row(sorted_position_[pair]);
                for (int i = 0; i < out.cols(); ++i)
                    out.row(t)[i] += chosen_weight_[pair] * y[i];
            }
        }
    });
}

}  // namespace engine
