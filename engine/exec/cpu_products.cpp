#include "engine/exec/cpu_products.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <utility>

namespace engine {

namespace {

// From this many rows on, rounding or gating them is worth waking the workers.
constexpr int kRowsWorthWaking = 4;
// The most weight rows in a piece of work.
constexpr int kMaxGrain = 256;
// Pieces begin where interleaved rows do.
constexpr int kLeastGrain = kernels::kInterleavedRows;
// What rounding lost is multiplied, too, for this many tokens at once.
constexpr int kResidualTokens = 64;
// A worker takes this many rows of one head at once.
constexpr int kHeadTokens = 64;

}  // namespace

CpuProducts::CpuProducts(const Hyperparameters& h, ThreadPool& pool)
    : kernels_(kernels::cpu_kernels())
    , pool_(&pool)
    , sixteen_bits_(h.experts > 0)
    , widest_row_(widest_row(h))
    , longest_head_(longest_head(h))
    , scratch_(scratch_for(pool.size()))
{
}

int CpuProducts::widest_row(const Hyperparameters& h)
{
    int most = std::max({h.embedding_length, h.expert_ffn_length, h.expert_length, h.side_length, h.latent.query_rank,
                         longest_head(h), h.ngrams.values()});
    if (h.streams.several())
        most = std::max({most, h.streams.count * h.embedding_length, h.streams.rank});
    for (const LayerParameters& layer : h.layers)
        most = std::max({most, layer.ffn_length, mixer_cols(h, layer)});
    return h.mtp_blocks > 0 ? std::max(most, 2 * h.embedding_length) : most;
}

/// Returns the length of the longest head that is multiplied with a matrix of its own; 0: the model has none.
int CpuProducts::longest_head(const Hyperparameters& h)
{
    return std::max(h.latent.rank, h.latent.plain);
}

static std::size_t head_bytes(int longest_head)
{
    return longest_head > 0 ? kHeadTokens * kernels::activation_row_bytes(kernels::Activation::Q8, longest_head) : 0;
}

std::vector<CpuProducts::Scratch> CpuProducts::scratch_for(int threads) const
{
    std::vector<Scratch> scratch(sixteen_bits_ || longest_head_ > 0 ? std::size_t(threads) : 0);
    for (Scratch& s : scratch) {
        if (sixteen_bits_) {
            s.residual = aligned_array<float>(std::size_t(widest_row_));
            s.sums = aligned_array<float>(kMaxGrain * kResidualTokens);
        }
        if (longest_head_ > 0)
            s.heads = aligned_array<std::byte>(head_bytes(longest_head_));
        if (longest_head_ > 0 && sixteen_bits_)
            s.head_residuals = aligned_array<std::byte>(head_bytes(longest_head_));
    }
    return scratch;
}

std::size_t CpuProducts::scratch_bytes(const Hyperparameters& h, int threads)
{
    const bool sixteen_bits = h.experts > 0;
    const std::size_t floats = sixteen_bits ? std::size_t(widest_row(h)) + kMaxGrain * kResidualTokens : 0;
    const std::size_t heads = (sixteen_bits ? 2 : 1) * head_bytes(longest_head(h));
    return std::size_t(threads) * (floats * sizeof(float) + heads);
}

void CpuProducts::use(ThreadPool& pool, std::vector<Scratch> scratch)
{
    pool_ = &pool;
    scratch_ = std::move(scratch);
}

/// Rounds the lower half of 16 bits: x less its 8-bit copy, to 8 bits again.
void CpuProducts::round_residual(int n, const float* x, const std::byte* q8, std::byte* residual,
                                 Scratch& scratch) const
{
    assert(n <= widest_row_);
    const kernels::Q8Row rounded(q8, n);
    for (int i = 0; i < n; ++i)
        scratch.residual[std::size_t(i)] = x[i] - float(rounded.q[i]) * rounded.scale[i / 32];
    kernels_.quantize_q8(n, scratch.residual.get(), residual);
}

void CpuProducts::round_rows(Rows& x)
{
    if (x.rounded())
        return;
    x.q8(0);  // allocated before the workers ask for their rows
    if (sixteen_bits_)
        x.q8_residual(0);
    pool_->for_each(x.count(), kRowsWorthWaking, [&](int begin, int end, int worker) {
        for (int t = begin; t < end; ++t) {
            kernels_.quantize_q8(x.cols(), x.row(t), x.q8(t));
            if (sixteen_bits_)
                round_residual(x.cols(), x.row(t), x.q8(t), x.q8_residual(t), scratch_[std::size_t(worker)]);
        }
    });
    x.set_rounded();
}

/// Returns the weight rows in a piece of work: enough pieces that workers end together, each long enough to stream
/// well.
int CpuProducts::row_grain(int rows, int tokens) const
{
    const int pieces = pool_->size() * (tokens > 1 ? 16 : 8);
    return std::clamp(rows / pieces / kLeastGrain * kLeastGrain, kLeastGrain, kMaxGrain);
}

/// Adds the products of what rounding the activations lost.
void CpuProducts::add_residual(MatMulKernel multiply, const kernels::MatMul& args, const Operand& x,
                               Scratch& scratch) const
{
    kernels::MatMul residual = args;
    residual.out = scratch.sums.get();
    residual.out_stride = kMaxGrain;
    for (int t = 0; t < args.tokens; t += kResidualTokens) {
        residual.tokens = std::min(kResidualTokens, args.tokens - t);
        residual.x = x.q8_residual + std::size_t(t) * x.q8_stride;
        multiply(residual);
        for (int i = 0; i < residual.tokens; ++i)
            kernels_.add(args.rows, residual.out + i * kMaxGrain, args.out + std::size_t(t + i) * args.out_stride);
    }
}

/// Returns rows of x from first_row on, rounded where the type of m needs that.
CpuProducts::Operand CpuProducts::operand(Rows& x, int first_row, const Matrix& m) const
{
    Operand o{x.row(first_row), std::size_t(x.cols())};
    if (kernels::activation_of(m.type) != kernels::Activation::Q8)
        return o;
    o.q8 = x.q8(first_row);
    o.q8_residual = sixteen_bits_ ? x.q8_residual(first_row) : nullptr;
    o.q8_stride = x.q8_stride();
    return o;
}

/// Writes columns [begin, end) of out: (tokens, rows of the matrix).
void CpuProducts::run_product(const Product& product, const Operand& x, int tokens, int begin, int end, float* out,
                              std::size_t out_stride, int worker)
{
    const Matrix& m = *product.matrix;
    const bool as_floats = kernels::activation_of(m.type) == kernels::Activation::F32;
    kernels::MatMul args;
    args.n = m.n;
    args.rows = end - begin;
    args.weights = m.data + std::size_t(begin) * kernels::row_bytes(m.type, m.n);
    args.tokens = tokens;
    args.x = as_floats ? reinterpret_cast<const std::byte*>(x.values) : x.q8;
    args.x_stride = as_floats ? x.stride * sizeof(float) : x.q8_stride;
    args.out = out + begin;
    args.out_stride = out_stride;
    const MatMulKernel multiply = (m.interleaved ? kernels_.matmul_interleaved : kernels_.matmul)[std::size_t(m.type)];
    multiply(args);
    if (sixteen_bits_ && !as_floats)
        add_residual(multiply, args, x, scratch_[std::size_t(worker)]);
    if (m.scale)
        for (int t = 0; t < tokens; ++t)
            for (int r = 0; r < args.rows; ++r)
                args.out[std::size_t(t) * args.out_stride + std::size_t(r)] *= *m.scale;
    if (product.bias)
        for (int t = 0; t < tokens; ++t)
            kernels_.add(args.rows, product.bias + begin, args.out + std::size_t(t) * args.out_stride);
}

void CpuProducts::multiply(Rows& x, std::span<const Product> products, Rows& out)
{
    int total_rows = 0, out_cols = 0;
    for (const Product& p : products) {
        total_rows += p.matrix->rows;
        out_cols = std::max(out_cols, p.out_col + p.matrix->rows);
        if (kernels::activation_of(p.matrix->type) == kernels::Activation::Q8)
            round_rows(x);
    }
    out.set_shape(x.count(), out_cols);
    // Pieces never cross from one matrix to the next.
    const int grain = row_grain(total_rows, x.count());
    int pieces = 0;
    for (const Product& p : products)
        pieces += (p.matrix->rows + grain - 1) / grain;
    const int together = ThreadPool::sharing_pays(std::int64_t(total_rows) * x.cols() * x.count()) ? 1 : pieces;
    pool_->for_each(pieces, together, [&](int begin, int end, int worker) {
        for (int piece = begin; piece < end; ++piece) {
            int first = piece;
            for (const Product& p : products) {
                const int of_this = (p.matrix->rows + grain - 1) / grain;
                if (first < of_this) {
                    run_product(p, operand(x, 0, *p.matrix), x.count(), first * grain,
                                std::min((first + 1) * grain, p.matrix->rows), out.row(0) + p.out_col,
                                std::size_t(out.cols()), worker);
                    break;
                }
                first -= of_this;
            }
        }
    });
}

void CpuProducts::multiply_by_experts(Rows& x, std::span<const ExpertRows> ranges, std::span<const Matrix> matrices,
                                      Vector bias, Rows& out, int out_col)
{
    if (ranges.empty())
        return;
    const int rows = matrices.front().rows;
    if (kernels::activation_of(matrices.front().type) == kernels::Activation::Q8)
        round_rows(x);
    const int grain = row_grain(rows * int(ranges.size()), x.count());
    const int pieces = (rows + grain - 1) / grain;
    pool_->for_each(int(ranges.size()) * pieces, 1, [&](int begin, int end, int worker) {
        for (int item = begin; item < end; ++item) {
            const ExpertRows& range = ranges[std::size_t(item / pieces)];
            const Matrix& matrix = matrices[std::size_t(item / pieces)];
            const Product product{&matrix, bias ? bias + std::size_t(range.expert) * std::size_t(rows) : nullptr,
                                  out_col};
            const int row = item % pieces * grain;
            run_product(product, operand(x, range.first, matrix), range.count, row, std::min(row + grain, rows),
                        out.row(range.first) + out_col, std::size_t(out.cols()), worker);
        }
    });
}

/// Returns columns [col, col + m.n) of some rows, rounded in the worker's scratch where the type of m needs that.
CpuProducts::Operand CpuProducts::head_operand(const Rows& x, int first_row, int rows, int col, const Matrix& m,
                                               Scratch& scratch) const
{
    Operand o{x.row(first_row) + col, std::size_t(x.cols())};
    if (kernels::activation_of(m.type) != kernels::Activation::Q8)
        return o;
    o.q8_stride = kernels::activation_row_bytes(kernels::Activation::Q8, m.n);
    for (int t = 0; t < rows; ++t) {
        const float* const values = o.values + std::size_t(t) * o.stride;
        std::byte* const q8 = scratch.heads.get() + std::size_t(t) * o.q8_stride;
        kernels_.quantize_q8(m.n, values, q8);
        if (sixteen_bits_)
            round_residual(m.n, values, q8, scratch.head_residuals.get() + std::size_t(t) * o.q8_stride, scratch);
    }
    o.q8 = scratch.heads.get();
    o.q8_residual = scratch.head_residuals.get();
    return o;
}

void CpuProducts::multiply_heads(const Rows& x, const HeadColumns& from, const Matrix& stack, Rows& out,
                                 const HeadColumns& to)
{
    out.changed();
    const int tiles = (x.count() + kHeadTokens - 1) / kHeadTokens;
    const int items = from.heads * tiles;
    const std::int64_t products = std::int64_t(stack.rows) * stack.n * from.heads * x.count();
    pool_->for_each(items, ThreadPool::sharing_pays(products) ? 1 : items, [&](int begin, int end, int worker) {
        for (int item = begin; item < end; ++item) {
            const int head = item / tiles, first = item % tiles * kHeadTokens;
            const int rows = std::min(kHeadTokens, x.count() - first);
            const Matrix matrix = stack.expert(head);
            const Operand operand =
                head_operand(x, first, rows, from.col + head * from.stride, matrix, scratch_[std::size_t(worker)]);
            float* const to_head = out.row(first) + to.col + head * to.stride;
            for (int row = 0; row < matrix.rows; row += kMaxGrain)
                run_product({&matrix, nullptr, 0}, operand, rows, row, std::min(row + kMaxGrain, matrix.rows), to_head,
                            std::size_t(out.cols()), worker);
        }
    });
}

void CpuProducts::gate_row(Gate gate, int n, const float* g, const float* up, float* out) const
{
    switch (gate) {
    case Gate::Silu:
        kernels_.silu_mul(n, g, up, out);
        break;
    case Gate::Gelu:
        kernels_.gelu_mul(n, g, up, out);
        break;
    case Gate::SwigluOai:
        kernels_.swiglu_oai(n, g, up, kSwigluOaiAlpha, kSwigluOaiLimit, out);
        break;
    case Gate::ReluSquared:
        kernels_.relu_squared(n, g, out);
        break;
    }
}

void CpuProducts::gated(Gate gate, const Rows& gate_up, Rows& out)
{
    const int n = gate_up.cols() / 2;
    out.set_shape(gate_up.count(), n);
    pool_->for_each(gate_up.count(), kRowsWorthWaking, [&](int begin, int end, int) {
        for (int t = begin; t < end; ++t)
            gate_row(gate, n, gate_up.row(t), gate_up.row(t) + n, out.row(t));
    });
}

void CpuProducts::gated_by(Gate gate, const Rows& x, const Rows& up, int col, Rows& out)
{
    out.set_shape(x.count(), x.cols());
    pool_->for_each(x.count(), kRowsWorthWaking, [&](int begin, int end, int) {
        for (int t = begin; t < end; ++t)
            gate_row(gate, x.cols(), x.row(t), up.row(t) + col, out.row(t));
    });
}

}  // namespace engine
