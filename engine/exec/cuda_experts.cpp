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
    places = memory.take(std::size_t(ExpertsApart::kKinds * h.experts) * sizeof(std::uint64_t));
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

/// Returns gates and ups as two matrices, also where the file has them in one.
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

/// Returns the rows themselves, or a row for each pair with its weight applied.
CudaExperts::Input CudaExperts::input_of(Rows& x, const ExpertParameters& p, const cuda::Routing& routing)
{
    if (p.weighs == ExpertWeighs::Output)
        return {x, p.used};
    rows_.in.set_shape(x.count() * p.used, x.cols());
    calls_.launch(cuda::weigh_pairs, cuda_rows(x), routing, x.cols(), cuda_rows(rows_.in));
    return {rows_.in, 1};
}

/// Computes gate times up of all pairs by calls of multiply(rows, pairs of each, matrix, bias, out, column).
template <class Multiply>
void CudaExperts::compute_hidden(const Input& in, const LayerWeights& w, const ExpertMatrices& matrices, Gate gate,
                                 int pairs, const Multiply& multiply)
{
    CudaExpertRows& e = rows_;
    e.gate_up.set_shape(pairs, (has_gate(gate) ? 2 : 1) * w.down_experts.n);
    if (w.gate_experts)
        multiply(in.rows, in.pairs_of_each, matrices.gate, w.gate_experts_bias, e.gate_up, 0);
    multiply(in.rows, in.pairs_of_each, matrices.up, w.up_experts_bias, e.gate_up, w.gate_experts.rows);
    if (has_gate(gate))
        products_.gated(gate, e.gate_up, matrices.down, e.hidden);
    else
        products_.gated_by(gate, e.gate_up, e.gate_up, 0, e.hidden);
}

void CudaExperts::compute_gated_row(const Input& in, const LayerWeights& w, const ExpertMatrices& matrices, Gate gate,
                                    const cuda::Routing& routing)
{
    const GatesAndUps stacks = gates_and_ups_of(w, matrices);
    rows_.hidden.set_shape(routing.used, stacks.gate.rows);
    cuda::GatedProduct product{
        .gate = products_.operands(in.rows, stacks.gate, w.gate_experts_bias, cuda_rows(rows_.hidden)),
        .up_weights = cuda_address(stacks.up.data),
        .up_scale = cuda_address(stacks.up.scale),
        .up_bias = cuda_address(w.up_experts_bias),
        .gating = CudaProducts::gating_of(gate)};
    product.gate.tokens = routing.used;
    product.gate.stack_stride = stacks.stride;
    products_.round_at_end(product, matrices.down, rows_.hidden);
    calls_.launch(cuda::gated_expert_matvec, product, routing, in.pairs_of_each);
}

void CudaExperts::compute_chosen(Rows& x, const LayerWeights& w, const ExpertMatrices& matrices,
                                 const ExpertParameters& p, const cuda::Routing& routing)
{
    const int pairs = x.count() * p.used;
    const auto multiply = [&](Rows& from, int pairs_of_each, const Matrix& stack, Vector bias, Rows& to, int col) {
        cuda::Product product = products_.operands(from, stack, bias, cuda_rows(to, col));
        product.tokens = pairs;
        calls_.launch(cuda::expert_matmul, product, routing, pairs_of_each);
    };
    const Input in = input_of(x, p, routing);
    // compute_gated_row() takes gates and ups as two matrices, also where the file has them in one.
    const bool same_type = !w.gate_experts || matrices.gate.type == matrices.up.type;
    if (has_gate(p.gate) && x.count() == 1 && same_type)
        compute_gated_row(in, w, matrices, p.gate, routing);
    else
        compute_hidden(in, w, matrices, p.gate, pairs, multiply);
    rows_.out.set_shape(pairs, w.down_experts.rows);
    multiply(rows_.hidden, 1, matrices.down, w.down_experts_bias, rows_.out, 0);
}

void CudaExperts::compute_apart(Rows& x, const LayerWeights& w, const ExpertParameters& p, const cuda::Routing& routing,
                                const ExpertsApart& apart)
{
    const int pairs = x.count() * p.used;
    const std::span<const int> coming = apart.ring ? apart.ring->chosen() : std::span<const int>();
    int kind = 0;
    const auto multiply = [&](Rows& from, int pairs_of_each, const Matrix& any, Vector bias, Rows& to, int col) {
        cuda::Product product = products_.operands(from, any, bias, cuda_rows(to, col));
        product.weights = 0;  // places are those of the matrices themselves
        product.tokens = pairs;
        cuda::Routing some = routing;
        some.places = apart.places_of(kind++, routing.experts);
        if (!apart.ring || coming.empty())
            return calls_.launch(cuda::expert_matmul, product, some, pairs_of_each);
        // Computes all experts up to the first one that has not come yet.
        for (std::size_t at = 0; at < coming.size(); some.first += some.count) {
            at += apart.ring->take().size();
            some.count = (at < coming.size() ? coming[at] : routing.experts) - some.first;
            calls_.launch(cuda::expert_matmul, product, some, pairs_of_each);
            apart.ring->release();
        }
    };
    const ExpertMatrices any = expert_of(w, 0);
    compute_hidden(input_of(x, p, routing), w, any, p.gate, pairs, multiply);
    rows_.out.set_shape(pairs, w.down_experts.rows);
    multiply(rows_.hidden, 1, any.down, w.down_experts_bias, rows_.out, 0);
}

cuda::DevicePtr CudaExperts::places() const
{
    return cuda_address(rows_.places);
}

}  // namespace engine
