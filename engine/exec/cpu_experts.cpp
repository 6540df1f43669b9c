#include "engine/exec/cpu_experts.h"

#include "engine/exec/sigmoid.h"
#include "engine/metrics/expert_counts.h"
#include "engine/model/expert_cache.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

namespace engine {

namespace {

// All work in place.

void softmax(std::span<float> x)
{
    const float max = *std::max_element(x.begin(), x.end());
    float sum = 0.0f;
    for (float& v : x)
        sum += v = std::exp(v - max);
    for (float& v : x)
        v /= sum;
}

void score(RouterScores how, std::span<float> logits)
{
    if (how == RouterScores::Softmax)
        return softmax(logits);
    for (float& v : logits)
        v = sigmoid(v);
}

void sum_to_one(std::span<float> weights)
{
    float sum = 0.0f;
    for (const float weight : weights)
        sum += weight;
    for (float& weight : weights)
        weight /= std::max(sum, kLeastSumOfWeights);
}

}  // namespace

CpuExperts::CpuExperts(const Hyperparameters& h, int max_rows, CpuProducts& products, ThreadPool& pool)
    : products_(products)
    , pool_(&pool)
    , router_logits_(max_rows, h.experts)
    , in_(max_rows * h.experts_used, h.expert_length)
    , gate_up_(max_rows * h.experts_used, 2 * h.expert_ffn_length)
    , hidden_(max_rows * h.experts_used, h.expert_ffn_length)
    , out_(max_rows * h.experts_used, h.expert_length)
    , choice_(std::size_t(h.experts))
    , groups_(std::size_t(h.expert_groups))
    , expert_count_(std::size_t(h.experts))
{
    const auto pairs = std::size_t(max_rows) * std::size_t(h.experts_used);
    chosen_.resize(pairs);
    weights_.resize(pairs);
    sorted_position_.resize(pairs);
    sorted_.resize(pairs);
    active_.reserve(std::size_t(h.experts));
    for (std::vector<Matrix>* matrices : {&gates_, &ups_, &downs_})
        matrices->reserve(std::size_t(h.experts));
}

std::size_t CpuExperts::bytes() const
{
    return router_logits_.bytes() + in_.bytes() + gate_up_.bytes() + hidden_.bytes() + out_.bytes();
}

/// Fills chosen_ and weights_ from the router's logits.
void CpuExperts::route(Rows& x, const LayerWeights& w, const ExpertParameters& p)
{
    const Product router{&w.router, w.router_bias, 0};
    products_.multiply(p.routed_by ? *p.routed_by : x, std::span(&router, 1), router_logits_);
    // Softmax over all experts, then over the chosen ones to one again, equals the softmax over the chosen ones.
    const bool of_chosen = p.softmax_of_chosen(w.choice_bias);
    for (int t = 0; t < x.count(); ++t) {
        const std::span<float> scores(router_logits_.row(t), std::size_t(w.router.rows));
        const std::span<int> chosen(chosen_.data() + std::size_t(t * p.used), std::size_t(p.used));
        const std::span<float> weights(weights_.data() + std::size_t(t * p.used), std::size_t(p.used));
        std::ranges::copy(scores, choice_.begin());  // scores have the same order as their logits
        if (!of_chosen)
            score(p.scores, scores);
        for (std::size_t e = 0; (w.choice_bias || p.groups > 0) && e < scores.size(); ++e)
            choice_[e] = scores[e] + (w.choice_bias ? w.choice_bias[e] : 0.0f);
        if (p.groups > 0)
            leave_best_groups(p);
        choose(scores.data(), chosen, weights);
        if (of_chosen)
            softmax(weights);
        else if (p.weights == ExpertWeights::SumToOne)
            sum_to_one(weights);
        for (int slot = 0; slot < p.used; ++slot)
            weights[std::size_t(slot)] *=
                p.weights_scale * (w.down_experts_scale ? w.down_experts_scale[chosen[slot]] : 1.0f);
    }
}

/// Counts the chosen experts, for the sequences that keep such counts.
void CpuExperts::count_chosen(const ExpertParameters& p) const
{
    for (const RowGroup& group : p.tokens)
        if (group.chosen)
            group.chosen->note(p.layer, std::span(chosen_).subspan(std::size_t(group.row * p.used),
                                                                   std::size_t(group.count() * p.used)));
}

/// Excludes all experts but those of the best groups (arXiv 2412.19437). Among equal groups the first is better.
void CpuExperts::leave_best_groups(const ExpertParameters& p)
{
    constexpr float kNone = -std::numeric_limits<float>::infinity();
    const std::size_t size = choice_.size() / groups_.size();
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        float best = kNone, second = kNone;
        for (const float choice : std::span(choice_).subspan(g * size, size)) {
            second = std::max(second, std::min(best, choice));
            best = std::max(best, choice);
        }
        groups_[g] = size > 1 ? best + second : best;
    }
    for (int left_out = 0; left_out < p.groups - p.groups_used; ++left_out) {
        // The worst group that still competes, the last among equals. It is set to infinity so that it is not found
        // again.
        std::size_t worst = 0;
        for (std::size_t g = 1; g < groups_.size(); ++g)
            if (groups_[g] <= groups_[worst])
                worst = g;
        groups_[worst] = std::numeric_limits<float>::infinity();
        std::fill_n(choice_.begin() + std::ptrdiff_t(worst * size), size, kNone);
    }
}

/// Chooses the experts with the largest choice_, the lower number first among equals.
void CpuExperts::choose(const float* scores, std::span<int> chosen, std::span<float> weights)
{
    for (std::size_t slot = 0; slot < chosen.size(); ++slot) {
        const auto best = std::max_element(choice_.begin(), choice_.end());
        const auto expert = std::size_t(best - choice_.begin());
        chosen[slot] = int(expert);
        weights[slot] = scores[expert];
        *best = -std::numeric_limits<float>::infinity();
    }
}

/// Counts how many rows have chosen each expert.
void CpuExperts::count_rows(int rows, const ExpertParameters& p)
{
    std::fill(expert_count_.begin(), expert_count_.end(), 0);
    for (int i = 0; i < rows * p.used; ++i)
        ++expert_count_[std::size_t(chosen_[std::size_t(i)])];
}

static bool is_there(std::span<const std::uint64_t> elsewhere, int expert)
{
    return !elsewhere.empty() && elsewhere[std::size_t(expert)] != 0;
}

/// Sorts all (row, slot) pairs by expert, but for those that are computed elsewhere (counting sort).
void CpuExperts::sort_by_expert(int rows, const ExpertParameters& p, std::span<const std::uint64_t> elsewhere)
{
    count_rows(rows, p);
    active_.clear();
    int first = 0;
    for (int e = 0; e < int(expert_count_.size()); ++e) {
        const int count = is_there(elsewhere, e) ? 0 : expert_count_[std::size_t(e)];
        if (count > 0)
            active_.push_back({e, first, count});
        expert_count_[std::size_t(e)] = first;  // from here on: where this expert's next pair goes
        first += count;
    }
    pairs_ = first;
    for (int i = 0; i < rows * p.used; ++i) {
        const int expert = chosen_[std::size_t(i)];
        if (is_there(elsewhere, expert))
            continue;
        const int position = expert_count_[std::size_t(expert)]++;
        sorted_position_[std::size_t(i)] = position;
        sorted_[std::size_t(position)] = {i / p.used, i % p.used};
    }
}

/// Finds the matrices of all active experts: in the device's copy where there is one, else on the host.
void CpuExperts::find_matrices(int rows, const LayerWeights& w, int layer)
{
    if (w.cached_experts) {
        w.cached_experts->take_arrived();
        w.cached_experts->begin_step(rows);
    }
    coming_ = 0;
    if (w.expert_ring && w.expert_ring->may_bring(layer, rows))
        send_for_some(w, layer);
    gates_.clear();
    ups_.clear();
    downs_.clear();
    for (const ExpertRows& expert : active_) {
        const ExpertMatrices* const cached =
            w.cached_experts ? w.cached_experts->use(expert.expert, expert.count) : nullptr;
        const ExpertMatrices matrices = cached ? *cached : expert_of(w, expert.expert);
        gates_.push_back(matrices.gate);
        ups_.push_back(matrices.up);
        downs_.push_back(matrices.down);
    }
}

/// Begins to bring the experts to the device for which that pays, and moves them behind the others, so that they are
/// computed last.
void CpuExperts::send_for_some(const LayerWeights& w, int layer)
{
    std::fill(expert_count_.begin(), expert_count_.end(), 0);
    for (const ExpertRows& expert : active_)
        if (!w.cached_experts || !w.cached_experts->has(expert.expert))
            expert_count_[std::size_t(expert.expert)] = expert.count;
    w.expert_ring->choose(layer, w, expert_count_);
    w.expert_ring->start();
    const std::span<const int> chosen = w.expert_ring->chosen();
    std::ranges::stable_partition(
        active_, [&](const ExpertRows& expert) { return !std::ranges::binary_search(chosen, expert.expert); });
    coming_ = chosen.size();
}

/// Multiplies the rows of all active experts with one kind of their matrices (gate, up or down).
void CpuExperts::multiply(Rows& x, std::vector<Matrix>& matrices, Vector bias, ExpertRing* ring, Rows& out, int col)
{
    const std::span<const ExpertRows> ranges = active_;
    const std::size_t here = ranges.size() - coming_;
    products_.multiply_by_experts(x, ranges.first(here), std::span(matrices).first(here), bias, out, col);
    for (std::size_t at = here; at < ranges.size();) {
        const auto taken = ring->take();
        for (std::size_t i = 0; i < taken.size(); ++i)
            matrices[at + i].data = taken[i];
        products_.multiply_by_experts(x, ranges.subspan(at, taken.size()),
                                      std::span(matrices).subspan(at, taken.size()), bias, out, col);
        ring->release();
        at += taken.size();
    }
}

/// Gathers the rows of all pairs, by expert.
void CpuExperts::gather(const Rows& x, const ExpertParameters& p)
{
    in_.set_shape(pairs_, x.cols());
    pool_->for_each(pairs_, 16, [&](int begin, int end, int) {
        for (int i = begin; i < end; ++i) {
            const Pair& pair = sorted_[std::size_t(i)];
            const float* from = x.row(pair.row);
            if (p.weighs == ExpertWeighs::Output) {
                std::memcpy(in_.row(i), from, std::size_t(x.cols()) * sizeof(float));
                continue;
            }
            const float weight = weights_[std::size_t(pair.row * p.used + pair.slot)];
            for (int c = 0; c < x.cols(); ++c)
                in_.row(i)[c] = weight * from[c];
        }
    });
    if (p.weighs == ExpertWeighs::Input)
        std::fill_n(weights_.begin(), x.count() * p.used, 1.0f);
}

void CpuExperts::compute(Rows& x, const LayerWeights& w, const ExpertParameters& p, Rows& out)
{
    route(x, w, p);
    count_chosen(p);
    sort_by_expert(x.count(), p, {});
    find_matrices(x.count(), w, p.layer);
    compute_active(x, w, p, {}, out);
    if (w.cached_experts)
        w.cached_experts->refill(w);
}

void CpuExperts::compute_rest(Rows& x, const LayerWeights& w, const ExpertParameters& p, const ChosenExperts& chosen,
                              Rows& out)
{
    std::ranges::copy(chosen.experts, chosen_.begin());
    std::ranges::copy(chosen.weights, weights_.begin());
    count_chosen(p);
    if (chosen.cache) {
        chosen.cache->begin_step(x.count());
        count_rows(x.count(), p);
        for (int e = 0; e < int(expert_count_.size()); ++e)
            if (const int rows = expert_count_[std::size_t(e)]; rows > 0)
                (void)chosen.cache->use(e, rows);
    }
    sort_by_expert(x.count(), p, chosen.elsewhere);
    find_matrices(x.count(), w, p.layer);
    compute_active(x, w, p, chosen.elsewhere, out);
}

/// out = the sum over the active experts; pairs of others count nothing.
void CpuExperts::compute_active(Rows& x, const LayerWeights& w, const ExpertParameters& p,
                                std::span<const std::uint64_t> elsewhere, Rows& out)
{
    gather(x, p);
    gate_up_.set_shape(pairs_, (has_gate(p.gate) ? 2 : 1) * w.down_experts.n);
    if (w.gate_experts)
        multiply(in_, gates_, w.gate_experts_bias, w.expert_ring, gate_up_, 0);
    multiply(in_, ups_, w.up_experts_bias, w.expert_ring, gate_up_, w.gate_experts.rows);
    if (has_gate(p.gate))
        products_.gated(p.gate, gate_up_, hidden_);
    else
        products_.gated_by(p.gate, gate_up_, gate_up_, 0, hidden_);
    out_.set_shape(pairs_, w.down_experts.rows);
    multiply(hidden_, downs_, w.down_experts_bias, w.expert_ring, out_, 0);
    if (coming_ > 0)
        w.expert_ring->end();

    out.set_shape(x.count(), w.down_experts.rows);
    pool_->for_each(x.count(), 4, [&](int begin, int end, int) {
        for (int t = begin; t < end; ++t) {
            std::fill_n(out.row(t), out.cols(), 0.0f);
            for (int slot = 0; slot < p.used; ++slot) {
                const auto pair = std::size_t(t * p.used + slot);
                if (is_there(elsewhere, chosen_[pair]))
                    continue;
                const float* y = out_.row(sorted_position_[pair]);
                for (int i = 0; i < out.cols(); ++i)
                    out.row(t)[i] += weights_[pair] * y[i];
            }
        }
    });
}

}  // namespace engine
