#include "kernels/cuda/matvec.h"

#include "kernels/cuda/matmul.h"
#include "kernels/cuda/of_type.h"
#include "kernels/cuda/ops.h"

namespace kernels::cuda {

template <class T>
static T* pointer(DevicePtr at)
{
    return reinterpret_cast<T*>(static_cast<std::uintptr_t>(at));
}

static MatvecArguments arguments_of(const Product& p)
{
    return {
        .n = p.n,
        .rows = p.rows,
        .tokens = p.tokens,
        .weights = pointer<std::byte>(p.weights),
        .row_bytes = row_bytes(p.type, p.n),
        .x = pointer<std::byte>(p.x),
        .residual = pointer<std::byte>(p.residual),
        .x_stride = p.x_stride,
        .scale = pointer<float>(p.scale),
        .bias = pointer<float>(p.bias),
        .accumulate = p.into == Into::Sum,
        .out = pointer<float>(p.out.at),
        .out_stride = p.out.stride,
        .expert = {},
        .head = {},
    };
}

static unsigned pieces(int count, int at_once)
{
    return unsigned((count + at_once - 1) / at_once);
}

static bool can_multiply(const Product& p)
{
    return p.n % (is_packed(p.type) ? type_traits(p.type).block_len : 8) == 0;
}

static Status launch_matvec(const Driver& driver, Queue queue, const Product& p, const MatvecArguments& arguments,
                            int heads)
{
    const Dim grid{pieces(p.rows, kMatvecWarps), pieces(p.tokens, kMatvecTokens), unsigned(heads)};
    const Kernel first = p.tokens == 1 ? Kernel::matvec_f32 : Kernel::matvec8_f32;
    return driver.launch(of_type(first, p.type), grid, {32 * kMatvecWarps}, 0, queue, arguments);
}

Status matvec(const Driver& driver, Queue queue, const Product& p)
{
    return can_multiply(p) ? launch_matvec(driver, queue, p, arguments_of(p), 1) : Status::InvalidValue;
}

static Status launch_gated(const Driver& driver, Queue queue, const GatedProduct& p, const ExpertArguments& expert)
{
    if (!can_multiply(p.gate) || p.gate.into == Into::Sum)
        return Status::InvalidValue;
    GatedMatvecArguments arguments{
        .gate = arguments_of(p.gate),
        .up = pointer<std::byte>(p.up_weights),
        .up_scale = pointer<float>(p.up_scale),
        .up_bias = pointer<float>(p.up_bias),
        .gating = p.gating,
    };
    arguments.gate.expert = expert;
    const Dim grid{pieces(p.gate.rows, kMatvecWarps), unsigned(p.gate.tokens)};
    return driver.launch(of_type(Kernel::gated_matvec_f32, p.gate.type), grid, {32 * kMatvecWarps}, 0, queue,
                         arguments);
}

Status gated_matvec(const Driver& driver, Queue queue, const GatedProduct& p)
{
    return launch_gated(driver, queue, p, {});
}

static Status launch_matmul(const Driver& driver, Queue queue, const Product& p, const MatmulArguments& arguments,
                            int heads)
{
    if (p.tokens <= kFewTokens)
        return launch_matvec(driver, queue, p, arguments, heads);
    const Dim grid{pieces(p.rows, kMatmulRows), pieces(p.tokens, kMatmulTokens), unsigned(heads)};
    return driver.launch(of_type(Kernel::matmul_f32, p.type), grid, {kMatmulThreads},
                         is_packed(p.type) ? kMatmulSharedBytes : 0, queue, arguments);
}

Status matmul(const Driver& driver, Queue queue, const Product& p)
{
    return can_multiply(p) ? launch_matmul(driver, queue, p, arguments_of(p), 1) : Status::InvalidValue;
}

Status head_matmul(const Driver& driver, Queue queue, const HeadProducts& h)
{
    constexpr int kMostHeads = 65535;  // of a grid
    const Product& p = h.product;
    if (!can_multiply(p) || h.heads < 1 || h.heads > kMostHeads)
        return Status::InvalidValue;
    MatmulArguments arguments = arguments_of(p);
    arguments.expert.bytes = std::size_t(p.rows) * row_bytes(p.type, p.n);
    arguments.head = {h.x_stride, h.out_stride};
    return launch_matmul(driver, queue, p, arguments, h.heads);
}

/// Experts whose pairs are given by their order in the batch.
static ExpertArguments chosen_experts(const Product& p, const Routing& routing, int pairs_of_each_row)
{
    return {.chosen = pointer<int>(routing.chosen),
            .sorted = nullptr,
            .begin = nullptr,
            .bytes = p.stack_stride > 0 ? p.stack_stride : std::size_t(p.rows) * row_bytes(p.type, p.n),
            .pairs_of_each_row = pairs_of_each_row};
}

Status gated_expert_matvec(const Driver& driver, Queue queue, const GatedProduct& p, const Routing& routing,
                           int pairs_of_each_row)
{
    if (routing.rows > kFewTokens)
        return Status::InvalidValue;
    return launch_gated(driver, queue, p, chosen_experts(p.gate, routing, pairs_of_each_row));
}

Status expert_matmul(const Driver& driver, Queue queue, const Product& p, const Routing& routing, int pairs_of_each_row)
{
    if (!can_multiply(p))
        return Status::InvalidValue;
    MatmulArguments arguments = arguments_of(p);
    arguments.expert = chosen_experts(p, routing, pairs_of_each_row);
    if (routing.rows <= kFewTokens || !is_packed(p.type)) {
        const Dim grid{pieces(p.rows, kMatvecWarps), unsigned(p.tokens)};
        return driver.launch(of_type(Kernel::matvec_f32, p.type), grid, {32 * kMatvecWarps}, 0, queue, arguments);
    }
    arguments.expert.chosen = nullptr;
    arguments.expert.sorted = pointer<int>(routing.sorted);
    arguments.expert.begin = pointer<int>(routing.begin);
    // An expert gets each row once at most; thread blocks beyond what it gets have nothing to do.
    const Dim grid{pieces(p.rows, kMatmulRows), pieces(routing.rows, kMatmulTokens), unsigned(routing.experts)};
    return driver.launch(of_packed_type(Kernel::matmul_q4_0, p.type), grid, {kMatmulThreads}, kMatmulSharedBytes, queue,
                         arguments);
}

}  // namespace kernels::cuda
