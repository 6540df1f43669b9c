// CudaProducts multiplies rows with weight matrices on a GPU, by our kernels or by cuBLAS, and applies the gate. The
// launch that computes a product of one token also does what follows: the gate and its rounding, the sum with the
// residual stream and its norm, or the preparation of heads.
#pragma once

#include "engine/device/vram.h"
#include "engine/exec/backend.h"
#include "engine/exec/cuda_blas.h"
#include "engine/exec/cuda_calls.h"
#include "engine/exec/cuda_memory.h"
#include "kernels/cuda/ops.h"

#include <memory>
#include <span>

namespace engine {

/// Owned by a GPU's backend, on its thread.
class CudaProducts
{
public:
    /// `calls` and `vram` outlive it.
    CudaProducts(CudaCalls& calls, Vram& vram, const CudaSizes& sizes, CudaArena& memory);
    /// Call it before the first product. DeviceLost.
    Status clear_counters();
    /// Returns CudaSizes::counters bytes of zeros, for launches that leave zeros there: one after another may use them.
    kernels::cuda::DevicePtr counters() const;
    /// Call it between steps. Takes CudaBlas::bytes() of the device, and lets cuBLAS multiply many rows from now on.
    /// Where that does not work everything stays as it is, and a warning says why.
    void use_blas(const Hyperparameters& h);

    void multiply(Rows& x, std::span<const Product> products, Rows& out);
    /// Says whether the launch that multiplies x may also prepare the heads, as prepare_heads does.
    static bool can_multiply_and_prepare(const Rows& x, std::span<const Product> products,
                                         const kernels::KvBlockLayout& layout);
    /// Multiplies and prepares heads, in one launch for all products whose types allow it. can_multiply_and_prepare()
    /// holds, and `qkv`, in which `heads` lie, has its shape already.
    void multiply_and_prepare(Rows& x, std::span<const Product> products, Rows& qkv, const kernels::cuda::KvBlocks& kv,
                              const kernels::cuda::PreparedHeads& heads);
    /// Gives `out` the shape of the products of x.
    static void shape(const Rows& x, std::span<const Product> products, Rows& out);
    /// Adds the product to the residual stream itself.
    void multiply_and_add(Rows& x, const Product& product, Rows& sum);
    /// Does the same; then out = the norm of sum.
    void multiply_add_and_norm(Rows& x, const Product& product, Rows& sum, const FollowingNorm& norm, Rows& out);
    /// out = the norm of x, also rounded where the norm's reader needs that.
    void norm(Rows& x, const FollowingNorm& norm, Rows& out);
    /// `reader` is the matrix that multiplies the result next. Where it takes rounded rows, only these are written. It
    /// is empty where others read the result.
    void gated(Gate gate, const Rows& gate_up, const Matrix& reader, Rows& out);
    void gated_by(Gate gate, const Rows& x, const Rows& up, int col, Rows& out);
    /// `gate_up`: room for the products, where they are not gated in the same kernel.
    void gated_products(Rows& x, std::span<const Product> gate_and_up, Gate gate, const Matrix& reader, Rows& gate_up,
                        Rows& out);

    // ---- for launchers of products ----

    /// Returns the product of all rows of x and one matrix; x is rounded where the matrix's type needs that.
    kernels::cuda::Product operands(Rows& x, const Matrix& m, Vector bias, const kernels::cuda::Rows& out);
    static kernels::cuda::Gating gating_of(Gate gate);
    /// Says where the kernel that computes x shall write its rows rounded as well, because `reader` multiplies them
    /// next; nowhere where `reader` needs no rounded rows.
    kernels::cuda::Rounded rounded_for(const Matrix& reader, Rows& x) const;
    /// Returns the weights of the matrix that the next launch reads; none where it is null or empty.
    static kernels::cuda::NextWeights next_weights(const Matrix* next);
    /// Makes a gated product round its result, rows of `out`, for the reader.
    void round_at_end(kernels::cuda::GatedProduct& product, const Matrix& reader, Rows& out);

private:
    void round_rows(Rows& x);
    kernels::cuda::DevicePtr residual_of(Rows& x) const;  // what rounding x lost; 0 where that is left out
    template <class Launch>
    void multiply_together(Rows& x, std::span<const Product> products, Rows& out, const Launch& launch);
    void multiply_into(Rows& x, std::span<const Product> products, Rows& out, kernels::cuda::Into into);
    bool multiplies_by_blas(const Rows& x, const Matrix& m) const;
    bool multiplies_by_blas(const Rows& x, std::span<const Product> products) const;
    int rows_by_blas(const kernels::cuda::Product& product);

    CudaCalls& calls_;
    Vram& vram_;
    const int max_rows_;
    const bool sixteen_bits_;
    const std::size_t counter_bytes_;
    std::byte* const counters_;       // of the device: zeros between launches
    std::unique_ptr<CudaBlas> blas_;  // null: it is not used
    bool tried_blas_ = false;
};

}  // namespace engine
