#include "engine/exec/cuda_products.h"

#include "engine/exec/cuda_address.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace engine {

namespace cuda = kernels::cuda;

cuda::Gating CudaProducts::gating_of(Gate gate)
{
    switch (gate) {
    case Gate::Silu:
        return {cuda::GateKind::Silu};
    case Gate::Gelu:
        return {cuda::GateKind::Gelu};
    case Gate::ReluSquared:
        return {cuda::GateKind::ReluSquared};
    case Gate::SwigluOai:
        break;
    }
    return {cuda::GateKind::SwigluOai, kSwigluOaiAlpha, kSwigluOaiLimit};
}

struct GateAndUp {
    Matrix gate, up;
    Vector gate_bias, up_bias;
};

/// Returns gate and up as two matrices, also where the file has them in one.
static GateAndUp gate_and_up_of(std::span<const Product> products)
{
    const Product& first = products.front();
    if (products.size() > 1)
        return {*first.matrix, *products[1].matrix, first.bias, products[1].bias};
    Matrix half = *first.matrix;
    half.rows /= 2;
    Matrix up = half;
    up.data += half.bytes();
    return {half, up, first.bias, first.bias ? first.bias + half.rows : nullptr};
}

CudaProducts::CudaProducts(CudaCalls& calls, Vram& vram, const CudaSizes& sizes, CudaArena& memory)
    : calls_(calls)
    , vram_(vram)
    , max_rows_(sizes.max_rows)
    , sixteen_bits_(sizes.sixteen_bits)
    , counter_bytes_(sizes.counters)
    , counters_(memory.take(sizes.counters))
{
}

Status CudaProducts::clear_counters()
{
    return calls_.device().checked(calls_.driver().fill(counters(), 0, counter_bytes_, calls_.queue()));
}

cuda::DevicePtr CudaProducts::counters() const
{
    return cuda_address(counters_);
}

void CudaProducts::round_rows(Rows& x)
{
    if (x.rounded())
        return;
    calls_.run([&] {
        return cuda::quantize_q8(calls_.driver(), calls_.queue(), cuda_rows(x), x.count(), x.cols(),
                                 {cuda_address(x.q8(0)), x.q8_stride()}, residual_of(x));
    });
    x.set_rounded();
}

cuda::Rounded CudaProducts::rounded_for(const Matrix& reader, Rows& x) const
{
    if (!reader || kernels::activation_of(reader.type) == kernels::Activation::F32 || multiplies_by_blas(x, reader) ||
        x.cols() % 32 != 0)
        return {};
    return {{cuda_address(x.q8(0)), x.q8_stride()}, residual_of(x)};
}

cuda::NextWeights CudaProducts::next_weights(const Matrix* next)
{
    return next && *next ? cuda::NextWeights{cuda_address(next->data), next->bytes()} : cuda::NextWeights{};
}

cuda::DevicePtr CudaProducts::residual_of(Rows& x) const
{
    return sixteen_bits_ ? cuda_address(x.q8_residual(0)) : 0;
}

cuda::Product CudaProducts::operands(Rows& x, const Matrix& m, Vector bias, const cuda::Rows& out)
{
    const bool as_floats = kernels::activation_of(m.type) == kernels::Activation::F32;
    if (!as_floats)
        round_rows(x);
    return {
        .type = m.type,
        .n = m.n,
        .rows = m.rows,
        .weights = cuda_address(m.data),
        .scale = cuda_address(m.scale),
        .bias = cuda_address(bias),
        .tokens = x.count(),
        .x = as_floats ? cuda_address(x.row(0)) : cuda_address(x.q8(0)),
        .residual = as_floats ? 0 : residual_of(x),
        .x_stride = as_floats ? std::size_t(x.cols()) * sizeof(float) : x.q8_stride(),
        .out = out,
    };
}

void CudaProducts::shape(const Rows& x, std::span<const Product> products, Rows& out)
{
    int out_cols = 0;
    for (const Product& p : products)
        out_cols = std::max(out_cols, p.out_col + p.matrix->rows);
    out.set_shape(x.count(), out_cols);
}

void CudaProducts::multiply(Rows& x, std::span<const Product> products, Rows& out)
{
    shape(x, products, out);
    if (x.count() <= cuda::kFewTokens && products.size() <= cuda::kMostTogether)
        multiply_together(x, products, out,
                          [&](const auto& together) { calls_.launch(cuda::matvec_together, together); });
    else
        multiply_into(x, products, out, cuda::Into::Place);
}

bool CudaProducts::can_multiply_and_prepare(const Rows& x, std::span<const Product> products,
                                            const kernels::KvBlockLayout& layout)
{
    return x.count() == 1 && products.size() <= cuda::kMostTogether && cuda::can_multiply_and_prepare(layout);
}

void CudaProducts::multiply_and_prepare(Rows& x, std::span<const Product> products, Rows& qkv, const cuda::KvBlocks& kv,
                                        const cuda::PreparedHeads& heads)
{
    multiply_together(x, products, qkv, [&](const auto& together) {
        calls_.launch(cuda::matvec_and_prepare, together, kv, heads, counters());
    });
}

/// Multiplies few tokens with kMostTogether matrices at most; products whose types allow it share one launch.
template <class Launch>
void CudaProducts::multiply_together(Rows& x, std::span<const Product> products, Rows& out, const Launch& launch)
{
    std::array<bool, cuda::kMostTogether> done{};
    for (std::size_t first = 0; first < products.size(); ++first) {
        std::array<kernels::TensorType, cuda::kMostTogether> types;
        std::array<cuda::Product, cuda::kMostTogether> together;
        std::size_t count = 0;
        for (std::size_t i = first; i < products.size(); ++i) {
            const Product& p = products[i];
            types[count] = p.matrix->type;
            if (done[i] || !cuda::multiplied_together(std::span(types).first(count + 1)))
                continue;
            together[count++] = operands(x, *p.matrix, p.bias, cuda_rows(out, p.out_col));
            done[i] = true;
        }
        if (count > 0)
            launch(std::span<const cuda::Product>(together).first(count));
    }
}

void CudaProducts::multiply_and_add(Rows& x, const Product& product, Rows& sum)
{
    sum.changed();
    multiply_into(x, std::span(&product, 1), sum, cuda::Into::Sum);
}

void CudaProducts::norm(Rows& x, const FollowingNorm& norm, Rows& out)
{
    out.set_shape(x.count(), x.cols());
    const cuda::Rounded rounded = rounded_for(*norm.reader, out);
    calls_.launch(cuda::rms_norm, cuda_rows(x), cuda_address(norm.weight), norm.epsilon, x.count(), x.cols(),
                  cuda_rows(out), rounded);
    if (rounded.rows.at)
        out.set_rounded();
}

void CudaProducts::multiply_add_and_norm(Rows& x, const Product& product, Rows& sum, const FollowingNorm& norm,
                                         Rows& out)
{
    if (x.count() > 1 || sum.cols() % 32 != 0) {
        multiply_and_add(x, product, sum);
        this->norm(sum, norm, out);
        return;
    }
    sum.changed();
    out.set_shape(1, sum.cols());
    const cuda::Rounded rounded = rounded_for(*norm.reader, out);
    cuda::Product with = operands(x, *product.matrix, product.bias, cuda_rows(sum));
    with.into = cuda::Into::Sum;
    calls_.launch(
        cuda::matvec_and_norm, with,
        cuda::NormOfResult{cuda_address(norm.weight), norm.epsilon, cuda_rows(out), rounded, next_weights(norm.next)},
        counters());
    if (rounded.rows.at)
        out.set_rounded();
}

void CudaProducts::multiply_into(Rows& x, std::span<const Product> products, Rows& out, cuda::Into into)
{
    const bool by_blas = multiplies_by_blas(x, products);
    if (by_blas)
        calls_.run([&] { return blas_->take(cuda_rows(x), x.count(), x.cols()); });
    for (const Product& p : products) {
        Matrix rest = *p.matrix;
        int done = 0;
        if (by_blas && blas_)
            done = rows_by_blas({.type = rest.type,
                                 .n = rest.n,
                                 .rows = rest.rows,
                                 .weights = cuda_address(rest.data),
                                 .bias = cuda_address(p.bias),
                                 .tokens = x.count(),
                                 .out = cuda_rows(out, p.out_col),
                                 .into = into});
        if (done == rest.rows)
            continue;
        rest.data += std::size_t(done) * kernels::row_bytes(rest.type, rest.n);
        rest.rows -= done;
        cuda::Product product = operands(x, rest, p.bias ? p.bias + done : nullptr, cuda_rows(out, p.out_col + done));
        product.into = into;
        calls_.launch(cuda::matmul, product);
    }
}

// ---- by cuBLAS ----

void CudaProducts::use_blas(const Hyperparameters& h)
{
    if (std::exchange(tried_blas_, true) || CudaBlas::bytes(h, max_rows_) == 0)
        return;
    auto blas = CudaBlas::make(calls_.device(), vram_, h, max_rows_);
    if (blas)
        blas_ = std::move(*blas);
    else
        calls_.warn("prompts are read without cuBLAS: " + blas.error().what);
}

bool CudaProducts::multiplies_by_blas(const Rows& x, const Matrix& m) const
{
    return blas_ && x.count() > cuda::kFewTokens && cuda::blas_can(m.type) && !m.scale;
}

bool CudaProducts::multiplies_by_blas(const Rows& x, std::span<const Product> products) const
{
    return std::ranges::all_of(products, [&](const Product& p) { return multiplies_by_blas(x, *p.matrix); });
}

/// Has cuBLAS multiply, and returns how many rows of the matrix it has done. After a failure it is not used any more.
int CudaProducts::rows_by_blas(const cuda::Product& product)
{
    cuda::BlasProgress done;
    calls_.run([&] { return (done = blas_->multiply(product)).status; });
    if (done.blas_status != cuda::BlasStatus::Ok) {
        calls_.warn("prompts are read without cuBLAS from now on: it failed with its error " +
                    std::to_string(int(done.blas_status)));
        blas_.reset();
    }
    return calls_.ok() ? done.rows : product.rows;
}

void CudaProducts::gated(Gate gate, const Rows& gate_up, const Matrix& reader, Rows& out)
{
    const int n = gate_up.cols() / 2;
    out.set_shape(gate_up.count(), n);
    if (const cuda::Rounded rounded = rounded_for(reader, out); rounded.rows.at) {
        calls_.launch(cuda::gated_q8, gating_of(gate), cuda_rows(gate_up), cuda_rows(gate_up, n), gate_up.count(), n,
                      rounded);
        out.set_rounded();
        return;
    }
    calls_.launch(cuda::gated, gating_of(gate), cuda_rows(gate_up), cuda_rows(gate_up, n), gate_up.count(), n,
                  cuda_rows(out));
}

void CudaProducts::gated_by(Gate gate, const Rows& x, const Rows& up, int col, Rows& out)
{
    out.set_shape(x.count(), x.cols());
    calls_.launch(cuda::gated, gating_of(gate), cuda_rows(x), cuda_rows(up, col), x.count(), x.cols(), cuda_rows(out));
}

void CudaProducts::gated_products(Rows& x, std::span<const Product> gate_and_up, Gate gate, const Matrix& reader,
                                  Rows& gate_up, Rows& out)
{
    const GateAndUp both = gate_and_up_of(gate_and_up);
    if (x.count() > cuda::kFewTokens || both.gate.type != both.up.type) {
        multiply(x, gate_and_up, gate_up);
        gated(gate, gate_up, reader, out);
        return;
    }
    out.set_shape(x.count(), both.gate.rows);
    cuda::GatedProduct product{
        .gate = operands(x, both.gate, both.gate_bias, cuda_rows(out)),
        .up_weights = cuda_address(both.up.data),
        .up_scale = cuda_address(both.up.scale),
        .up_bias = cuda_address(both.up_bias),
        .gating = gating_of(gate),
        .next = next_weights(&reader),
    };
    if (x.count() == 1)
        round_at_end(product, reader, out);
    calls_.launch(cuda::gated_matvec, product);
}

void CudaProducts::round_at_end(cuda::GatedProduct& product, const Matrix& reader, Rows& out)
{
    product.rounded = rounded_for(reader, out);
    if (!product.rounded.rows.at)
        return;
    product.counters = counters();
    out.set_rounded();
}

}  // namespace engine
