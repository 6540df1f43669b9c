#include "engine/exec/cuda_experts.h"

#include "engine/exec/cuda_address.h"

#include <span>

namespace engine {

namespace cuda = kernels::cuda;

static bool weighs_input(const Hyperparameters& h)
{
    return h.architecture->expert_weighs == ExpertWeighs::Input;
}

CudaExpertRows::CudaExpertRows(const Hyperparameters& h, int max_rows, RowMemory& memory)
    : router_logits(max_rows, h.experts, memory)
    , in(weighs_input(h) ? max_rows * h.experts_used : 0, h.expert_length, memory)
    , gate_up(max_rows * h.experts_used, 2 * h.expert_ffn_length, memory)
    , hidden(max_rows * h.experts_used, h.expert_ffn_length, memory)
    , out(max_rows * h.experts_used, h.expert_length, memory)
{
    const auto pairs = std::size_t(max_rows) * std::size_t(h.experts_used);
    chosen = memory.take(pairs * sizeof(int));
    weights = memory.take(pairs * sizeof(float));
    sorted = memory.take(pairs * sizeof(int));
    begin = memory.take(std::size_t(h.experts + 1) * sizeof(int));
    hidden.q8(0);
    hidden.q8_residual(0);
    if (weighs_input(h)) {
        in.q8(0);
        in.q8_residual(0);
    }
}

CudaExperts::CudaExperts(CudaCalls& calls, CudaProducts& products, const Hyperparameters& h, int max_rows,
                         RowMemory& memory)
    : calls_(calls)
    , products_(products)
    , rows_(h, max_rows, memory)
{
}

/// The first expert's matrices, and bytes from one expert's to the next.
struct GatesAndUps {
    Matrix gate, up;
    std::size_t stride;
};

/// Apart, also where the file has them in one.
static GatesAndUps gates_and_ups_of(const LayerWeights& w, const ExpertMatrices& matrices)
{
    if (w.gate_experts)
        return {matrices.gate, matrices.up, matrices.gate.bytes()};
    Matrix half = matrices.up;
    half.rows /= 2;
    Matrix up = half;
    up.data += half.bytes();
    return {half, up, matrices.up.bytes()};
}

static cuda::Choice choice_of(const LayerWeights& w, const ExpertParameters& p)
{
    return {.scores = p.scores == RouterScores::Sigmoid ? cuda::Choice::Scores::Sigmoid : cuda::Choice::Scores::Softmax,
            .sum_to_one = p.weights == ExpertWeights::SumToOne,
            .least_sum = kLeastSumOfWeights,
            .scale = p.weights_scale,
            .bias = cuda_address(w.choice_bias),
            .groups = p.groups,
            .groups_used = p.groups_used};
}

void CudaExperts::compute(Rows& x, const LayerWeights& w, const ExpertParameters& p, Rows& out)
{
    const cuda::Routing routing = choose(x, w, p);
    compute_chosen(x, w, {w.gate_experts, w.up_experts, w.down_experts}, p, routing);
    out.set_shape(x.count(), w.down_experts.rows);
    add_up(p, routing, out);
}

cuda::Routing CudaExperts::choose(Rows& x, const LayerWeights& w, const ExpertParameters& p)
{
    CudaExpertRows& e = rows_;
    const Product router{&w.router, w.router_bias, 0};
    products_.multiply(p.routed_by ? *p.routed_by : x, std::span(&router, 1), e.router_logits);
    const cuda::Routing routing{.rows = x.count(),
                                .used = p.used,
                                .experts = w.router.rows,
                                .chosen = cuda_address(e.chosen),
                                .weights = cuda_address(e.weights),
                                .sorted = cuda_address(e.sorted),
                                .begin = cuda_address(e.begin)};
    calls_.launch(cuda::route, cuda_rows(e.router_logits), choice_of(w, p), routing);
    if (w.down_experts_scale)
        calls_.launch(cuda::scale_weights, cuda_address(w.down_experts_scale), routing);
    return routing;
}

void CudaExperts::add_up(const ExpertParameters& p, cuda::Routing routing, Rows& out)
{
    if (p.weighs == ExpertWeighs::Input)
        routing.weights = 0;
    calls_.launch(cuda::sum_experts, cuda_rows(rows_.out), routing, out.cols(), cuda_rows(out));
}

void CudaExperts::compute_chosen(Rows& x, const LayerWeights& w, const ExpertMatrices& matrices,
                                 const ExpertParameters& p, const cuda::Routing& routing)
{
    CudaExpertRows& e = rows_;
    const int pairs = x.count() * p.used;
    Rows* in = &x;
    int pairs_of_each_row = p.used;
    if (p.weighs == ExpertWeighs::Input) {
        e.in.set_shape(pairs, x.cols());
        calls_.launch(cuda::weigh_pairs, cuda_rows(x), routing, x.cols(), cuda_rows(e.in));
        in = &e.in;
        pairs_of_each_row = 1;
    }

    const auto multiply = [&](Rows& from, int pairs_of_each, const Matrix& stack, Vector bias, Rows& to, int col) {
        cuda::Product product = products_.operands(from, stack, bias, cuda_rows(to, col));
        product.tokens = pairs;
        calls_.launch(cuda::expert_matmul, product, routing, pairs_of_each);
    };
    if (!has_gate(p.gate)) {
        e.gate_up.set_shape(pairs, w.down_experts.n);
        multiply(*in, pairs_of_each_row, matrices.up, w.up_experts_bias, e.gate_up, 0);
        products_.gated_by(p.gate, e.gate_up, e.gate_up, 0, e.hidden);
    } else if (const GatesAndUps stacks = gates_and_ups_of(w, matrices);
               x.count() == 1 && stacks.gate.type == stacks.up.type) {
        e.hidden.set_shape(pairs, stacks.gate.rows);
        cuda::GatedProduct product{.gate =
                                       products_.operands(*in, stacks.gate, w.gate_experts_bias, cuda_rows(e.hidden)),
                                   .up_weights = cuda_address(stacks.up.data),
                                   .up_scale = cuda_address(stacks.up.scale),
                                   .up_bias = cuda_address(w.up_experts_bias),
                                   .gating = CudaProducts::gating_of(p.gate)};
        product.gate.tokens = pairs;
        product.gate.stack_stride = stacks.stride;
        calls_.launch(cuda::gated_expert_matvec, product, routing, pairs_of_each_row);
    } else {
        e.gate_up.set_shape(pairs, 2 * w.down_experts.n);
        if (w.gate_experts)
            multiply(*in, pairs_of_each_row, matrices.gate, w.gate_experts_bias, e.gate_up, 0);
        multiply(*in, pairs_of_each_row, matrices.up, w.up_experts_bias, e.gate_up, w.gate_experts.rows);
        products_.gated(p.gate, e.gate_up, e.hidden);
    }
    e.out.set_shape(pairs, w.down_experts.rows);
    multiply(e.hidden, 1, matrices.down, w.down_experts_bias, e.out, 0);
}

}  // namespace engine
