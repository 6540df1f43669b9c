// CpuProducts multiplies a batch's rows with weight matrices on the CPU, and applies the gate that follows some of the
// products. The rows of the matrices are divided among the workers; any division gives the same bits.
#pragma once

#include "engine/exec/backend.h"
#include "engine/exec/thread_pool.h"

#include <cstddef>
#include <span>
#include <vector>

namespace engine {

/// Rows of a batch that are multiplied with the same expert's matrix.
struct ExpertRows {
    int expert = 0;
    int first = 0, count = 0;
};

/// Owned by the CPU's backend; the engine's thread calls it.
class CpuProducts
{
public:
    /// Holds what one worker computes in; nothing where rows are rounded to 8 bits only, but for products of heads.
    struct Scratch {
        AlignedArray<float> residual;  // (widest row,) what rounding the row lost
        AlignedArray<float> sums;      // (kResidualTokens, kMaxGrain) products of that rest
        // For products of single heads: (kHeadTokens, activation_row_bytes of a head)
        AlignedArray<std::byte> heads;           // rounded to 8 bits
        AlignedArray<std::byte> head_residuals;  // what the rounding lost
    };

    /// The pool outlives it, or is replaced by use(). Throws std::bad_alloc.
    CpuProducts(const Hyperparameters& h, ThreadPool& pool);
    /// Makes what that many workers compute in. Throws std::bad_alloc.
    std::vector<Scratch> scratch_for(int threads) const;
    static std::size_t scratch_bytes(const Hyperparameters& h, int threads);
    /// Call it between steps: computes with these workers from now on. `scratch`: scratch_for() as many.
    void use(ThreadPool& pool, std::vector<Scratch> scratch);

    void multiply(Rows& x, std::span<const Product> products, Rows& out);
    /// Columns [out_col, ...) of the rows of each range = those rows of x times the matrix of the range's expert. All
    /// matrices are of one stack, with the same size and type. bias: of the stack
    void multiply_by_experts(Rows& x, std::span<const ExpertRows> ranges, std::span<const Matrix> matrices, Vector bias,
                             Rows& out, int out_col);
    /// Does the backend's operation of this name; each worker takes some rows of one head.
    void multiply_heads(const Rows& x, const HeadColumns& from, const Matrix& stack, Rows& out, const HeadColumns& to);
    void gated(Gate gate, const Rows& gate_up, Rows& out);
    void gated_by(Gate gate, const Rows& x, const Rows& up, int col, Rows& out);

private:
    /// Rows of activations in the forms in which they are multiplied.
    struct Operand {
        const float* values = nullptr;
        std::size_t stride = 0;  // floats
        const std::byte* q8 = nullptr;
        const std::byte* q8_residual = nullptr;
        std::size_t q8_stride = 0;  // bytes
    };
    static int widest_row(const Hyperparameters& h);  // of those that are rounded
    static int longest_head(const Hyperparameters& h);
    Operand operand(Rows& x, int first_row, const Matrix& m) const;
    Operand head_operand(const Rows& x, int first_row, int rows, int col, const Matrix& m, Scratch& scratch) const;
    void gate_row(Gate gate, int n, const float* g, const float* up, float* out) const;
    void round_rows(Rows& x);
    void round_residual(int n, const float* x, const std::byte* q8, std::byte* residual, Scratch& scratch) const;
    using MatMulKernel = void (*)(const kernels::MatMul&);
    void add_residual(MatMulKernel multiply, const kernels::MatMul& args, const Operand& x, Scratch& scratch) const;
    int row_grain(int rows, int tokens) const;
    void run_product(const Product& product, const Operand& x, int tokens, int begin, int end, float* out,
                     std::size_t out_stride, int worker);

    const kernels::CpuKernels& kernels_;
    ThreadPool* pool_;
    // A router decides by comparing: an error of half a percent, nothing to other models, sends a token to another
    // expert. Models with experts therefore round activations to 16 bits, as two parts of 8.
    const bool sixteen_bits_;
    const int widest_row_, longest_head_;
    std::vector<Scratch> scratch_;  // (threads,)
};

}  // namespace engine
