#include "engine/exec/cuda_recurrent.h"

#include "engine/exec/cuda_address.h"

#include <string>

namespace engine {

namespace cuda = kernels::cuda;

namespace {

cuda::DevicePtr column(const Rows& rows, int col)
{
    return cuda_rows(rows, col).at;
}

/// Fills in what both kinds of layers have in common; the caller adds where q, k, v and the gates are.
cuda::LinearAttention attention_of(const StateSpace& s, const Rows& mixed, Vector dt_bias, Vector a, float* state,
                                   const Rows& out)
{
    return {.keys = s.state_size,
            .values = s.head_length,
            .heads = s.heads,
            .key_heads = s.groups,
            .rows = mixed.count(),
            .stride = mixed.cols(),
            .dt_bias = cuda_address(dt_bias),
            .a = cuda_address(a),
            .state = cuda_address(state + s.history_floats()),
            .out = cuda_rows(out)};
}

}  // namespace

Status CudaRecurrent::supports(const StateSpace& space)
{
    if (space.conv_width > cuda::kMostTaps)
        return fail(Error::Code::Unsupported,
                    "a convolution of " + std::to_string(space.conv_width) + " inputs is computed on the cpu only");
    if (space.state_size > cuda::kMostStateKeys)
        return fail(Error::Code::Unsupported,
                    "a state of " + std::to_string(space.state_size) + " keys is computed on the cpu only");
    return {};
}

// mixed: (rows, [q (groups, state_size) | k | v (heads, head_length) | z | beta (heads,) | alpha])
void CudaRecurrent::delta_net(Rows& mixed, const DeltaNetParameters& p, Rows& out)
{
    const StateSpace& s = p.space;
    mixed.changed();
    out.set_shape(mixed.count(), s.inner());
    const cuda::Convolution convolution{.channels = s.conv_channels(),
                                        .width = s.conv_width,
                                        .taps = cuda_address(p.conv_taps),
                                        .history = cuda_address(p.state),
                                        .rows = mixed.count()};
    calls_.launch(cuda::convolve_silu, convolution, cuda_rows(mixed),
                  cuda::NormedHeads{2 * s.groups, s.state_size, p.epsilon});

    const int keys = s.groups * s.state_size, gates = s.conv_channels() + s.inner();
    cuda::LinearAttention attention = attention_of(s, mixed, p.dt_bias, p.a, p.state, out);
    attention.gates = cuda::StateGates::DeltaRule;
    attention.keys_in_runs = p.heads_in_runs;
    attention.q = column(mixed, 0);
    attention.k = column(mixed, keys);
    attention.v = column(mixed, 2 * keys);
    attention.gate = column(mixed, gates);
    attention.step = column(mixed, gates + s.heads);
    calls_.launch(cuda::linear_attention, attention);

    calls_.launch(cuda::norm_and_gate, cuda_rows(out), cuda_rows(mixed, s.conv_channels()), s.heads, s.head_length,
                  cuda_address(p.norm), p.epsilon, p.sigmoid_gate ? cuda::StateGate::Sigmoid : cuda::StateGate::Silu,
                  mixed.count());
}

// mixed: (rows, [z (heads, head_length) | x | B (groups, state_size) | C | dt (heads,)])
void CudaRecurrent::mamba2(Rows& mixed, const Mamba2Parameters& p, Rows& out)
{
    const StateSpace& s = p.space;
    mixed.changed();
    out.set_shape(mixed.count(), s.inner());
    const cuda::Convolution convolution{.channels = s.conv_channels(),
                                        .width = s.conv_width,
                                        .taps = cuda_address(p.conv_taps),
                                        .bias = cuda_address(p.conv_bias),
                                        .history = cuda_address(p.state),
                                        .rows = mixed.count()};
    calls_.launch(cuda::convolve_silu, convolution, cuda_rows(mixed, s.inner()), cuda::NormedHeads{});

    const int keys = s.groups * s.state_size;
    cuda::LinearAttention attention = attention_of(s, mixed, p.dt_bias, p.a, p.state, out);
    attention.gates = cuda::StateGates::Steps;
    attention.keys_in_runs = true;
    attention.v = column(mixed, s.inner());
    attention.k = column(mixed, 2 * s.inner());
    attention.q = column(mixed, 2 * s.inner() + keys);
    attention.step = column(mixed, s.inner() + s.conv_channels());
    calls_.launch(cuda::linear_attention, attention);

    const cuda::GateAndNorm gate{.heads = s.heads,
                                 .length = s.head_length,
                                 .groups = s.groups,
                                 .y = cuda_rows(out),
                                 .x = cuda_rows(mixed, s.inner()),
                                 .z = cuda_rows(mixed),
                                 .d = cuda_address(p.d),
                                 .weight = cuda_address(p.norm),
                                 .epsilon = p.epsilon};
    calls_.launch(cuda::gate_and_norm, gate, mixed.count());
}

// mixed: (rows, [b (channels,) | c | u])
void CudaRecurrent::short_convolution(Rows& mixed, const ShortConvolutionParameters& p, Rows& out)
{
    out.set_shape(mixed.count(), p.channels);
    const cuda::Convolution convolution{.channels = p.channels,
                                        .width = p.width,
                                        .taps = cuda_address(p.taps),
                                        .history = cuda_address(p.state),
                                        .rows = mixed.count()};
    calls_.launch(cuda::gated_convolution, convolution, cuda_rows(mixed), cuda_rows(out));
}

}  // namespace engine
