#include "engine/exec/cuda_heads.h"

#include "engine/exec/cuda_address.h"

namespace engine {

namespace cuda = kernels::cuda;

CudaHeads::CudaHeads(CudaCalls& calls, const Hyperparameters& h, const CudaSizes& sizes, CudaArena& memory)
    : calls_(calls)
    , rounded_(h.latent ? memory.take(sizes.rounded_heads) : nullptr)
    , residual_(h.latent && sizes.sixteen_bits ? memory.take(sizes.rounded_heads) : nullptr)
{
}

void CudaHeads::multiply(const Rows& x, const HeadColumns& from, const Matrix& stack, Rows& out, const HeadColumns& to)
{
    out.changed();
    const bool as_floats = kernels::activation_of(stack.type) == kernels::Activation::F32;
    const std::size_t rounded = kernels::activation_row_bytes(kernels::Activation::Q8, stack.n);
    const cuda::Rows values = cuda_rows(x, from.col);
    // All heads of all rows follow each other at one distance, so that they are rounded as so many rows.
    if (!as_floats)
        calls_.run([&] {
            return from.heads * from.stride == x.cols()
                       ? cuda::quantize_q8(calls_.driver(), calls_.queue(), {values.at, from.stride},
                                           x.count() * from.heads, stack.n, {cuda_address(rounded_), rounded},
                                           cuda_address(residual_))
                       : cuda::Status::InvalidValue;
        });
    const cuda::Product first{
        .type = stack.type,
        .n = stack.n,
        .rows = stack.rows,
        .weights = cuda_address(stack.data),
        .scale = cuda_address(stack.scale),
        .tokens = x.count(),
        .x = as_floats ? values.at : cuda_address(rounded_),
        .residual = as_floats ? 0 : cuda_address(residual_),
        .x_stride = as_floats ? std::size_t(x.cols()) * sizeof(float) : rounded * std::size_t(from.heads),
        .out = cuda_rows(out, to.col),
    };
    const cuda::HeadProducts heads{
        .product = first,
        .heads = from.heads,
        .x_stride = as_floats ? std::size_t(from.stride) * sizeof(float) : rounded,
        .out_stride = to.stride,
    };
    calls_.launch(cuda::head_matmul, heads);
}

void CudaHeads::copy(const Rows& x, const HeadColumns& from, Rows& out, const HeadColumns& to)
{
    out.changed();
    calls_.launch(cuda::copy_heads, cuda_rows(x, from.col), cuda::Heads{from.heads, from.length, from.stride},
                  x.count(), cuda_rows(out, to.col), to.stride);
}

}  // namespace engine
