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
    /// What one worker computes in; nothing where rows are rounded to 8 bits.
    struct Scratch {
        AlignedArray<float> residual;  // (widest row,) what rounding lost of a row
        AlignedArray<float> sums;      // (kResidualTokens, kMaxGrain) products of that
    };

    /// The pool outlives it, or is replaced by use(). Throws std::bad_alloc.
    CpuProducts(const Hyperparameters& h, ThreadPool& pool);
    /// Makes what that many workers compute in. Throws std::bad_alloc.
    std::vector<Scratch> scratch_for(int threads) const;
    static std::size_t scratch_bytes(const Hyperparameters& h, int threads);
    /// Call it between steps: computes with these workers from now on. `scratch`: scratch_for() as many.
    void use(ThreadPool& pool, std::vector<Scratch> scratch);

    void multiply(Rows& x, std::span<const Product> products, Rows& out);
    /// out columns [out_col, ...) of each range's rows = those rows of x times that expert's matrix of the stack.
    void multiply_by_experts(Rows& x, std::span<const ExpertRows> ranges, const Matrix& stack, Vector bias, Rows& out,
                             int out_col);
    void gated(Gate gate, const Rows& gate_up, Rows& out);
    void gated_by(Gate gate, const Rows& x, const Rows& up, int col, Rows& out);

private:
    static int widest_row(const Hyperparameters& h);  // that is rounded
    void gate_row(Gate gate, int n, const float* g, const float* up, float* out) const;
    void round_rows(Rows& x);
    void round_residual(Rows& x, int row, Scratch& scratch) const;
    using MatMulKernel = void (*)(const kernels::MatMul&);
    void add_residual(MatMulKernel multiply, const kernels::MatMul& args, Rows& x, int first_row,
                      Scratch& scratch) const;
    int row_grain(int rows, int tokens) const;
    void run_product(const Product& product, Rows& x, int first_row, int tokens, int begin, int end, Rows& out,
                     int worker);

    const kernels::CpuKernels& kernels_;
    ThreadPool* pool_;
    // A router decides by comparing: an error of half a percent, nothing to other models, sends a token to another
    // expert. Models with experts therefore round activations to 16 bits, as two parts of 8.
    const bool sixteen_bits_;
    const int widest_row_;
    std::vector<Scratch> scratch_;  // (threads,)
};

}  // namespace engine
