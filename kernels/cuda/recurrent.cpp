#include "kernels/cuda/recurrent.h"

#include "kernels/cuda/ops.h"

#include <algorithm>

namespace kernels::cuda {

static float* floats_at(DevicePtr at)
{
    return reinterpret_cast<float*>(static_cast<std::uintptr_t>(at));
}

static unsigned quotient_up(int x, int y)
{
    return unsigned((x + y - 1) / y);
}

static ConvolutionArguments arguments_of(const Convolution& c)
{
    return {c.channels, c.width, floats_at(c.taps), floats_at(c.bias), floats_at(c.history), c.rows};
}

static bool can_convolve(const Convolution& c)
{
    return c.width >= 1 && c.width <= kMostTaps;
}

Status convolve_silu(const Driver& driver, Queue queue, const Convolution& c, Rows x, const NormedHeads& heads)
{
    if (!can_convolve(c) || heads.length > kMostNormed || heads.heads * heads.length > c.channels)
        return Status::InvalidValue;
    const int threads = std::max(128, int(quotient_up(heads.length, 32)) * 32);
    const int others = c.channels - heads.heads * heads.length;
    return driver.launch(Kernel::convolve_silu, {unsigned(heads.heads) + quotient_up(others, threads)},
                         {unsigned(threads)}, 0, queue, arguments_of(c), heads, x.at, x.stride);
}

Status gated_convolution(const Driver& driver, Queue queue, const Convolution& c, Rows mixed, Rows out)
{
    if (!can_convolve(c))
        return Status::InvalidValue;
    constexpr int kThreads = 128;
    return driver.launch(Kernel::gated_convolution, {quotient_up(c.channels, kThreads)}, {kThreads}, 0, queue,
                         arguments_of(c), mixed.at, mixed.stride, out.at, out.stride);
}

Status linear_attention(const Driver& driver, Queue queue, const LinearAttention& l)
{
    if (l.keys < 1 || l.keys > kMostStateKeys || l.key_heads < 1)
        return Status::InvalidValue;
    const LinearAttentionArguments arguments{.keys = l.keys,
                                             .values = l.values,
                                             .heads = l.heads,
                                             .key_heads = l.key_heads,
                                             .keys_in_runs = l.keys_in_runs,
                                             .gates = l.gates,
                                             .rows = l.rows,
                                             .stride = l.stride,
                                             .q = floats_at(l.q),
                                             .k = floats_at(l.k),
                                             .v = floats_at(l.v),
                                             .gate = floats_at(l.gate),
                                             .step = floats_at(l.step),
                                             .dt_bias = floats_at(l.dt_bias),
                                             .a = floats_at(l.a),
                                             .state = floats_at(l.state),
                                             .out = floats_at(l.out.at),
                                             .out_stride = l.out.stride};
    return driver.launch(Kernel::linear_attention, {quotient_up(l.values, 32), unsigned(l.heads)},
                         {32 * quotient_up(l.keys, 32)}, 0, queue, arguments);
}

Status norm_and_gate(const Driver& driver, Queue queue, Rows y, Rows z, int heads, int length, DevicePtr weight,
                     float eps, StateGate gate, int rows)
{
    constexpr int kHeadsPerBlock = 4;  // a warp each
    return driver.launch(Kernel::norm_and_gate, {quotient_up(heads, kHeadsPerBlock), unsigned(rows)},
                         {32 * kHeadsPerBlock}, 0, queue, y.at, y.stride, z.at, z.stride, heads, length, weight, eps,
                         int(gate == StateGate::Sigmoid));
}

Status gate_and_norm(const Driver& driver, Queue queue, const GateAndNorm& g, int rows)
{
    if (g.groups < 1 || g.heads % g.groups != 0 || g.x.stride != g.z.stride)
        return Status::InvalidValue;
    const GateAndNormArguments arguments{.heads = g.heads,
                                         .length = g.length,
                                         .groups = g.groups,
                                         .y = floats_at(g.y.at),
                                         .y_stride = g.y.stride,
                                         .x = floats_at(g.x.at),
                                         .z = floats_at(g.z.at),
                                         .stride = g.x.stride,
                                         .d = floats_at(g.d),
                                         .weight = floats_at(g.weight),
                                         .epsilon = g.epsilon};
    constexpr unsigned kThreads = 512;
    return driver.launch(Kernel::gate_and_norm, {unsigned(g.groups), unsigned(rows)}, {kThreads}, 0, queue, arguments);
}

}  // namespace kernels::cuda
