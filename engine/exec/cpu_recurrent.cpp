#include "engine/exec/cpu_recurrent.h"

#include "engine/exec/sigmoid.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace engine {

namespace {

// This many rows pass through one kernel after another while they are in the caches of a core.
constexpr int kRowsAtOnce = 64;
// A worker takes this many channels of a convolution that has no heads.
constexpr int kChannelsAtOnce = 128;
// An activation costs as much as this many multiplications of a convolution.
constexpr int kActivationProducts = 16;

// ln(1 + e^x); from 20 on that is x, to the last bit.
float softplus(float x)
{
    return x > 20.0f ? x : std::log1p(std::exp(x));
}

/// Gates of one head for some rows.
struct Gates {
    std::array<float, kRowsAtOnce> decay, beta;
};

/// Fills in what both kinds of heads have in common; the caller adds q, k, v and where the result goes.
kernels::LinearAttention attention_of(const StateSpace& s, int head, int tokens, float* state, const Gates& gates)
{
    const std::size_t matrix = std::size_t(s.state_size) * std::size_t(s.head_length);
    return {.keys = s.state_size,
            .values = s.head_length,
            .tokens = tokens,
            .decay = gates.decay.data(),
            .beta = gates.beta.data(),
            .gate_stride = 1,
            .state = state + s.history_floats() + std::size_t(head) * matrix,
            .state_stride = std::size_t(s.head_length)};
}

}  // namespace

/// A layer's convolution.
struct CpuRecurrent::Channels {
    int width, count;
    Vector taps, bias;
    float* history;
    bool silu;
};

template <class Work>
void CpuRecurrent::for_each_item(int items, RowRange rows, std::int64_t products, const Work& work) const
{
    const int grain = ThreadPool::sharing_pays(products) ? std::max(1, items / (8 * pool_->size())) : items;
    pool_->for_each(items, grain, [&](int begin, int end, int) {
        for (int item = begin; item < end; ++item)
            for (int first = rows.first, last = first + rows.count; first < last; first += kRowsAtOnce)
                work(item, first, std::min(kRowsAtOnce, last - first));
    });
}

/// Convolves channels [first, first + count) in place. x: (tokens, count)
void CpuRecurrent::convolve(const Channels& all, int first, int count, float* x, std::size_t stride, int tokens) const
{
    const auto channels = std::size_t(all.count);
    kernels_.short_convolution({.channels = count,
                                .width = all.width,
                                .taps = all.taps + first,
                                .bias = all.bias ? all.bias + first : nullptr,
                                .history = all.history + first,
                                .tap_stride = channels,
                                .history_stride = channels,
                                .tokens = tokens,
                                .x = x,
                                .x_stride = stride,
                                .silu = all.silu});
}

// mixed: (rows, [q (groups, state_size) | k | v (heads, head_length) | z | beta (heads,) | alpha])
void CpuRecurrent::delta_net(Rows& mixed, const DeltaNetParameters& p, Rows& out)
{
    const StateSpace& s = p.space;
    const RowRange rows = p.rows.of(mixed.count());
    const int key_heads = 2 * s.groups;
    mixed.changed();
    out.set_shape(mixed.count(), s.inner());

    const Channels channels{s.conv_width, s.conv_channels(), p.conv_taps, nullptr, p.state, true};
    const std::int64_t convolved = std::int64_t(rows.count) * channels.count * (s.conv_width + kActivationProducts);
    const float q_factor = 1.0f / std::sqrt(float(s.state_size));
    for_each_item(key_heads + s.heads, rows, convolved, [&](int head, int first, int count) {
        const bool key = head < key_heads;
        const int col = key ? head * s.state_size : key_heads * s.state_size + (head - key_heads) * s.head_length;
        convolve(channels, col, key ? s.state_size : s.head_length, mixed.row(first) + col, std::size_t(mixed.cols()),
                 count);
        for (int t = first; key && t < first + count; ++t) {
            float* values = mixed.row(t) + col;
            kernels_.l2_norm(s.state_size, values, p.epsilon, head < s.groups ? q_factor : 1.0f, values);
        }
    });
    for_each_item(s.heads, rows, 4 * std::int64_t(rows.count) * s.matrix_floats(),
                  [&](int head, int first, int count) { delta_net_head(head, first, count, mixed, p, out); });
}

/// Computes one head for rows [first, first + count), at most kRowsAtOnce.
void CpuRecurrent::delta_net_head(int head, int first, int count, const Rows& mixed, const DeltaNetParameters& p,
                                  Rows& out) const
{
    const StateSpace& s = p.space;
    const int key_head = p.heads_in_runs ? head / (s.heads / s.groups) : head % s.groups;
    const int q_col = key_head * s.state_size, k_col = q_col + s.groups * s.state_size;
    const int v_col = 2 * s.groups * s.state_size + head * s.head_length, z_col = v_col + s.inner();
    const int beta_col = s.conv_channels() + s.inner() + head, alpha_col = beta_col + s.heads;

    Gates gates;
    for (int t = 0; t < count; ++t) {
        const float* row = mixed.row(first + t);
        gates.beta[std::size_t(t)] = sigmoid(row[beta_col]);
        gates.decay[std::size_t(t)] = std::exp(p.a[head] * softplus(row[alpha_col] + p.dt_bias[head]));
    }
    kernels::LinearAttention a = attention_of(s, head, count, p.state, gates);
    a.delta_rule = true;
    a.q = mixed.row(first) + q_col;
    a.k = mixed.row(first) + k_col;
    a.v = mixed.row(first) + v_col;
    a.out = out.row(first) + head * s.head_length;
    a.qk_stride = a.v_stride = std::size_t(mixed.cols());
    a.out_stride = std::size_t(out.cols());
    kernels_.linear_attention(a);

    const auto gated = p.sigmoid_gate ? kernels_.sigmoid_mul : kernels_.silu_mul;
    for (int t = first; t < first + count; ++t) {
        float* values = out.row(t) + head * s.head_length;
        kernels_.rms_norm(s.head_length, values, p.norm, p.epsilon, values);
        gated(s.head_length, mixed.row(t) + z_col, values, values);
    }
}

// mixed: (rows, [z (heads, head_length) | x | B (groups, state_size) | C | dt (heads,)])
void CpuRecurrent::mamba2(Rows& mixed, const Mamba2Parameters& p, Rows& out)
{
    const StateSpace& s = p.space;
    const RowRange rows = p.rows.of(mixed.count());
    mixed.changed();
    out.set_shape(mixed.count(), s.inner());

    const Channels channels{s.conv_width, s.conv_channels(), p.conv_taps, p.conv_bias, p.state, true};
    const std::int64_t convolved = std::int64_t(rows.count) * channels.count * (s.conv_width + kActivationProducts);
    for_each_item(s.heads + 2 * s.groups, rows, convolved, [&](int head, int first, int count) {
        const bool value = head < s.heads;
        const int channel = value ? head * s.head_length : s.inner() + (head - s.heads) * s.state_size;
        convolve(channels, channel, value ? s.head_length : s.state_size, mixed.row(first) + s.inner() + channel,
                 std::size_t(mixed.cols()), count);
    });
    for_each_item(s.heads, rows, 3 * std::int64_t(rows.count) * s.matrix_floats(),
                  [&](int head, int first, int count) { mamba2_head(head, first, count, mixed, p, out); });
    if (!p.norm)
        return;
    const int length = s.inner() / s.groups;
    for_each_item(s.groups, rows, 4 * std::int64_t(rows.count) * s.inner(), [&](int group, int first, int count) {
        for (int t = first; t < first + count; ++t) {
            float* values = out.row(t) + group * length;
            kernels_.rms_norm(length, values, p.norm + std::size_t(group) * std::size_t(length), p.epsilon, values);
        }
    });
}

/// Computes one head for rows [first, first + count), at most kRowsAtOnce.
void CpuRecurrent::mamba2_head(int head, int first, int count, const Rows& mixed, const Mamba2Parameters& p,
                               Rows& out) const
{
    const StateSpace& s = p.space;
    const int group = head / (s.heads / s.groups);
    const int z_col = head * s.head_length, x_col = s.inner() + z_col;
    const int b_col = 2 * s.inner() + group * s.state_size, c_col = b_col + s.groups * s.state_size;
    const int dt_col = s.inner() + s.conv_channels() + head;

    Gates gates;
    for (int t = 0; t < count; ++t) {
        const float delta = softplus(mixed.row(first + t)[dt_col] + p.dt_bias[head]);
        gates.beta[std::size_t(t)] = delta;
        gates.decay[std::size_t(t)] = std::exp(delta * p.a[head]);
    }
    kernels::LinearAttention a = attention_of(s, head, count, p.state, gates);
    a.q = mixed.row(first) + c_col;
    a.k = mixed.row(first) + b_col;
    a.v = mixed.row(first) + x_col;
    a.out = out.row(first) + head * s.head_length;
    a.qk_stride = a.v_stride = std::size_t(mixed.cols());
    a.out_stride = std::size_t(out.cols());
    kernels_.linear_attention(a);

    for (int t = first; t < first + count; ++t) {
        float* values = out.row(t) + head * s.head_length;
        const float* x = mixed.row(t) + x_col;
        for (int i = 0; i < s.head_length; ++i)
            values[i] += p.d[head] * x[i];
        kernels_.silu_mul(s.head_length, mixed.row(t) + z_col, values, values);
    }
}

// mixed: (rows, [b (channels,) | c | u]); out = c * convolution of b * u
void CpuRecurrent::short_convolution(Rows& mixed, const ShortConvolutionParameters& p, Rows& out)
{
    const RowRange rows = p.rows.of(mixed.count());
    out.set_shape(mixed.count(), p.channels);
    const Channels channels{p.width, p.channels, p.taps, nullptr, p.state, false};
    const int items = (p.channels + kChannelsAtOnce - 1) / kChannelsAtOnce;
    for_each_item(
        items, rows, std::int64_t(rows.count) * p.channels * (p.width + 2), [&](int item, int first, int count) {
            const int channel = item * kChannelsAtOnce, width = std::min(kChannelsAtOnce, p.channels - channel);
            const auto times = [&](int t, const float* x, const float* y) {
                for (int i = 0; i < width; ++i)
                    out.row(t)[channel + i] = x[i] * y[i];
            };
            for (int t = first; t < first + count; ++t)
                times(t, mixed.row(t) + channel, mixed.row(t) + 2 * p.channels + channel);
            convolve(channels, channel, width, out.row(first) + channel, std::size_t(p.channels), count);
            for (int t = first; t < first + count; ++t)
                times(t, mixed.row(t) + p.channels + channel, out.row(t) + channel);
        });
}

}  // namespace engine
