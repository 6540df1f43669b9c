#include "kernels/cuda/checks/checks.h"

#include "kernels/cpu.h"
#include "kernels/cuda/checks/compare.h"
#include "kernels/cuda/checks/random_values.h"
#include "kernels/cuda/ops.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

namespace kernels::cuda {

namespace {

float softplus(float x)
{
    return x > 20.0f ? x : std::log1p(std::exp(x));
}

/// Linear attention of some heads, as a layer has it: one row holds queries, keys, values and gates.
struct AttentionLayer {
    StateGates gates;
    int keys, values, heads, key_heads, rows;
    bool keys_in_runs;
    int stride, q_col = 0, k_col, v_col, gate_col, step_col;
    std::vector<float> mixed, dt_bias, a, state;

    bool delta() const { return gates == StateGates::DeltaRule; }
    int key_head(int head) const { return keys_in_runs ? head / (heads / key_heads) : head % key_heads; }
    const float* row(int t, int col) const { return mixed.data() + t * stride + col; }
};

AttentionLayer random_layer(StateGates gates, int keys, int values, int heads, int key_heads, int rows,
                            std::mt19937& random)
{
    AttentionLayer l{gates, keys, values, heads, key_heads, rows, random() % 2 == 0, 0, 0, 0, 0, 0, 0, {}, {}, {}, {}};
    l.k_col = key_heads * keys;
    l.v_col = 2 * key_heads * keys;
    l.gate_col = l.v_col + heads * values;
    l.step_col = l.gate_col + heads;
    l.stride = l.step_col + heads + 3;
    l.mixed = normal_values(rows * l.stride, 1.0f, random);
    for (int t = 0; t < rows; ++t)
        for (int head = 0; head < 2 * key_heads; ++head) {
            float* one = l.mixed.data() + t * l.stride + head * keys;
            scalar().l2_norm(keys, one, 1e-6f, 1.0f - 1e-6f, one);  // the delta rule's keys are no longer than one
        }
    l.dt_bias = normal_values(heads, 1.0f, random);
    for (int head = 0; head < heads; ++head)
        l.a.push_back(-std::exp(std::normal_distribution<float>(-1.0f, 1.0f)(random)));
    l.state = normal_values(heads * keys * values, 0.3f, random);
    return l;
}

/// Checks one head against the reference, which computes a row at a time. A column's error goes through
/// decay (I - beta k k^T), which makes no vector longer; so its length grows by what a row's roundings add, in both
/// computations. A sum of n products is off by n roundings of the lengths' product at most.
double head_error(const AttentionLayer& l, int head, const std::vector<float>& out, int out_stride,
                  const std::vector<float>& state)
{
    std::vector<float> expected(l.state.begin() + head * l.keys * l.values,
                                l.state.begin() + (head + 1) * l.keys * l.values);
    std::vector<double> before(static_cast<std::size_t>(l.values)), error(before.size(), 0.0);
    std::vector<float> row_out(before.size());
    double worst = 0;
    for (int t = 0; t < l.rows; ++t) {
        const float stepped = softplus(*l.row(t, l.step_col + head) + l.dt_bias[std::size_t(head)]);
        const float decay = std::exp(l.a[std::size_t(head)] * stepped);
        const float beta = l.delta() ? 1.0f / (1.0f + std::exp(-*l.row(t, l.gate_col + head))) : stepped;
        const double decay_error =
            double(decay) * kGateRoundings * (1 + std::abs(double(l.a[std::size_t(head)] * stepped)));
        const float* k = l.row(t, l.k_col + l.key_head(head) * l.keys);
        const float* q = l.row(t, l.q_col + l.key_head(head) * l.keys);
        const float* v = l.row(t, l.v_col + head * l.values);
        for (int c = 0; c < l.values; ++c)
            before[std::size_t(c)] = length_of(expected.data() + c, l.keys, l.values);
        scalar().linear_attention({.keys = l.keys,
                                   .values = l.values,
                                   .tokens = 1,
                                   .delta_rule = l.delta(),
                                   .q = q,
                                   .k = k,
                                   .v = v,
                                   .decay = &decay,
                                   .beta = &beta,
                                   .state = expected.data(),
                                   .state_stride = std::size_t(l.values),
                                   .out = row_out.data()});
        const double k_length = length_of(k, l.keys), q_length = length_of(q, l.keys);
        for (int c = 0; c < l.values; ++c) {
            const auto i = std::size_t(c);
            const double after = length_of(expected.data() + c, l.keys, l.values), size = std::abs(double(v[c]));
            const double seen = l.delta() ? k_length * before[i] : 0.0;
            const double d_error =
                double(beta) * (seen * (2 * (l.keys + 4) * kHalfEpsilon * double(decay) + decay_error) +
                                (size + seen) * (8 * kHalfEpsilon + kGateRoundings));
            error[i] = double(decay) * error[i] + decay_error * before[i] + k_length * d_error +
                       8 * kHalfEpsilon * (before[i] + k_length * double(beta) * (size + seen) + after);
            const double allowed = q_length * (error[i] + 2 * (l.keys + 1) * kHalfEpsilon * after);
            worst = std::max(worst, share_of(allowed, double(out[std::size_t(t * out_stride + head * l.values + c)]),
                                             double(row_out[i])));
        }
    }
    for (int c = 0; c < l.values; ++c) {
        double squares = 0;
        for (int key = 0; key < l.keys; ++key)
            squares += std::pow(double(state[std::size_t((head * l.keys + key) * l.values + c)]) -
                                    double(expected[std::size_t(key * l.values + c)]),
                                2);
        worst = std::max(worst, share_of(error[std::size_t(c)], std::sqrt(squares), 0));
    }
    return worst;
}

Checked check_linear_attention(const Driver& driver, unsigned seed, StateGates gates)
{
    std::mt19937 random(seed);
    Checked checked;
    struct Shape {
        int keys, values, heads, key_heads, rows;
    };
    for (const Shape& s : {Shape{128, 128, 4, 2, 1}, Shape{128, 64, 2, 1, 21}, Shape{16, 40, 3, 1, 9},
                           Shape{256, 33, 2, 2, 8}, Shape{50, 7, 4, 2, 17}}) {
        const AttentionLayer l = random_layer(gates, s.keys, s.values, s.heads, s.key_heads, s.rows, random);
        DeviceMemory on(driver);
        const DevicePtr mixed = on.put(l.mixed), state = on.put(l.state);
        const auto column = [&](int col) { return mixed + std::size_t(col) * sizeof(float); };
        const int out_stride = s.heads * s.values + 5;
        const std::vector<float> untouched(std::size_t(s.rows * out_stride), -7.0f);
        const DevicePtr out = on.put(untouched);
        LinearAttention args{.keys = s.keys,
                             .values = s.values,
                             .heads = s.heads,
                             .key_heads = s.key_heads,
                             .keys_in_runs = l.keys_in_runs,
                             .gates = gates,
                             .rows = s.rows,
                             .stride = l.stride,
                             .q = column(l.q_col),
                             .k = column(l.k_col),
                             .v = column(l.v_col),
                             .gate = column(l.gate_col),
                             .step = column(l.step_col),
                             .dt_bias = on.put(l.dt_bias),
                             .a = on.put(l.a),
                             .state = state,
                             .out = {out, out_stride}};
        on.keep(linear_attention(driver, on.queue(), args));
        const std::vector<float> whole = on.get<float>(out, untouched.size());
        const std::vector<float> after = on.get<float>(state, l.state.size());
        double worst = 0;
        for (int head = 0; head < s.heads; ++head)
            worst = std::max(worst, head_error(l, head, whole, out_stride, after));
        for (int t = 0; t < s.rows; ++t)
            for (int i = s.heads * s.values; i < out_stride; ++i)
                worst = std::max(worst, share_of(0, double(whole[std::size_t(t * out_stride + i)]), -7.0));

        // The very same in two launches.
        args.state = on.put(l.state);
        args.out.at = on.put(untouched);
        args.rows = (s.rows + 1) / 2;
        const DevicePtr divided = args.out.at;
        on.keep(linear_attention(driver, on.queue(), args));
        if (s.rows > 1) {
            for (DevicePtr* rows : {&args.q, &args.k, &args.v, &args.gate, &args.step})
                *rows += std::size_t(args.rows * l.stride) * sizeof(float);
            args.out.at += std::size_t(args.rows * out_stride) * sizeof(float);
            args.rows = s.rows / 2;
            on.keep(linear_attention(driver, on.queue(), args));
        }
        worst = std::max({worst, share_of_same(on.get<float>(divided, untouched.size()), whole),
                          share_of_same(on.get<float>(args.state, l.state.size()), after)});
        note(checked, on, worst,
             std::to_string(s.rows) + " rows of " + std::to_string(s.keys) + " keys and " + std::to_string(s.values) +
                 " values");
    }
    return checked;
}

}  // namespace

void add_linear_attention_checks(std::vector<KernelCheck>& checks)
{
    checks.push_back({"linear attention by the delta rule", [](const Driver& d, unsigned seed) {
                          return check_linear_attention(d, seed, StateGates::DeltaRule);
                      }});
    checks.push_back({"linear attention in steps", [](const Driver& d, unsigned seed) {
                          return check_linear_attention(d, seed, StateGates::Steps);
                      }});
}

}  // namespace kernels::cuda
