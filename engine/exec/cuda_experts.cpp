#include "engine/exec/cuda_experts.h"

#include "engine/exec/cuda_address.h"

#include <span>

namespace engine {

namespace cuda = kernels::cuda;

CudaExpertRows::CudaExpertRows(const Hyperparameters& h, int max_rows, RowMemory& memory)
    : router_logits(max_rows, h.experts, memory)
    , gate_up(max_rows * h.experts_used, 2 * h.expert_ffn_length, memory)
    , hidden(max_rows * h.experts_used, h.expert_ffn_length, memory)
    , out(max_rows * h.experts_used, h.embedding_length, memory)
{
    const auto pairs = std::size_t(max_rows) * std::size_t(h.experts_used);
    chosen = memory.take(pairs * sizeof(int));
    weights = memory.take(pairs * sizeof(float));
    sorted = memory.take(pairs * sizeof(int));
    begin = memory.take(std::size_t(h.experts + 1) * sizeof(int));
    hidden.q8(0);
    hidden.q8_rest(0);
}

CudaExperts::CudaExperts(CudaCalls& calls, CudaProducts& products, const Hyperparameters& h, int max_rows,
                         RowMemory& memory)
    : calls_(calls)
    , products_(products)
    , rows_(h, max_rows, memory)
{
}

void CudaExperts::compute(Rows& x, const LayerWeights& w, const ExpertParameters& p, Rows& out)
{
    CudaExpertRows& e = rows_;
    const int pairs = x.count() * p.used;
    const Product router{&w.router, w.router_bias, 0};
    products_.multiply(x, std::span(&router, 1), e.router_logits);
    const cuda::Routing routing{x.count(),
                                p.used,
                                w.router.rows,
                                cuda_address(e.chosen),
                                cuda_address(e.weights),
                                cuda_address(e.sorted),
                                cuda_address(e.begin)};
    calls_.launch(cuda::route, cuda_rows(e.router_logits), p.weights_scale, routing);

    const auto multiply = [&](Rows& from, int pairs_of_each_row, const Matrix& stack, Vector bias, Rows& to, int col) {
        cuda::Product product = products_.operands(from, stack, bias, cuda_rows(to, col));
        product.tokens = pairs;
        calls_.launch(cuda::expert_matmul, product, routing, pairs_of_each_row);
    };
    if (x.count() == 1 && w.gate_experts.type == w.up_experts.type) {
        e.hidden.set_shape(pairs, w.gate_experts.rows);
        cuda::GatedProduct product{.gate =
                                       products_.operands(x, w.gate_experts, w.gate_experts_bias, cuda_rows(e.hidden)),
                                   .up_weights = cuda_address(w.up_experts.data),
                                   .up_scale = cuda_address(w.up_experts.scale),
                                   .up_bias = cuda_address(w.up_experts_bias),
                                   .gating = CudaProducts::gating_of(p.gate)};
        product.gate.tokens = pairs;
        calls_.launch(cuda::gated_expert_matvec, product, routing, p.used);
    } else {
        e.gate_up.set_shape(pairs, 2 * w.gate_experts.rows);
        multiply(x, p.used, w.gate_experts, w.gate_experts_bias, e.gate_up, 0);
        multiply(x, p.used, w.up_experts, w.up_experts_bias, e.gate_up, w.gate_experts.rows);
        products_.gated(p.gate, e.gate_up, e.hidden);
    }
    e.out.set_shape(pairs, w.down_experts.rows);
    multiply(e.hidden, 1, w.down_experts, w.down_experts_bias, e.out, 0);

    out.set_shape(x.count(), w.down_experts.rows);
    calls_.launch(cuda::sum_experts, cuda_rows(e.out), routing, out.cols(), cuda_rows(out));
}

}  // namespace engine
