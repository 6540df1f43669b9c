#include "kernels/cuda/matvec.h"

#include "kernels/cpu.h"
#include "kernels/cuda/of_type.h"
#include "kernels/cuda/ops.h"

namespace kernels::cuda {

template <class T>
static T* pointer(DevicePtr at)
{
    return reinterpret_cast<T*>(static_cast<std::uintptr_t>(at));
}

Status matvec(const Driver& driver, Queue queue, const Product& p)
{
    const bool floats = activation_of(p.type) == Activation::F32;
    if (p.n % (floats ? 8 : type_traits(p.type).block_len) != 0)
        return Status::InvalidValue;
    const MatvecArguments arguments{
        .n = p.n,
        .rows = p.rows,
        .tokens = p.tokens,
        .weights = pointer<std::byte>(p.weights),
        .row_bytes = row_bytes(p.type, p.n),
        .x = pointer<std::byte>(p.x),
        .x_stride = p.x_stride,
        .bias = pointer<float>(p.bias),
        .accumulate = p.into == Into::Sum,
        .out = pointer<float>(p.out.at),
        .out_stride = p.out.stride,
    };
    const unsigned blocks = (unsigned(p.rows) + kMatvecWarps - 1) / kMatvecWarps;
    const unsigned passes = (unsigned(p.tokens) + kMatvecTokens - 1) / kMatvecTokens;
    const Kernel first = p.tokens == 1 ? Kernel::matvec_f32 : Kernel::matvec8_f32;
    return driver.launch(of_type(first, p.type), {blocks, passes}, {32 * kMatvecWarps}, 0, queue, arguments);
}

}  // namespace kernels::cuda
