// Makes recurrent layers with random numbers, and computes them in double precision together with how far floats may
// be off: every rounding on the way is followed to the result.
#pragma once

#include "engine/exec/recurrent_parameters.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <vector>

namespace recurrent_layers {

constexpr double kRounding = 0x1p-24;
// What an exponential, a logarithm or a root may be off, as a share of its value: the CPU's are good to 1e-7.
constexpr double kFunction = 8 * kRounding;

/// A value, and how far what floats make of it may be from it.
struct Bounded {
    double value = 0, error = 0;
};

inline Bounded operator*(Bounded x, Bounded y)
{
    const double value = x.value * y.value;
    return {value, std::abs(x.value) * y.error + std::abs(y.value) * x.error + x.error * y.error +
                       kRounding * std::abs(value)};
}

/// Returns the sum of the terms, which may be added in any order.
inline Bounded sum_of(std::span<const Bounded> terms)
{
    Bounded sum;
    double sizes = 0;
    for (const Bounded& term : terms) {
        sum.value += term.value;
        sum.error += term.error;
        sizes += std::abs(term.value);
    }
    sum.error += double(terms.size()) * kRounding * sizes;
    return sum;
}

inline Bounded exp_of(Bounded x)
{
    const double value = std::exp(x.value);
    return {value, value * (std::expm1(x.error) + kFunction)};
}

inline Bounded sigmoid_of(Bounded x)
{
    const double value = 1 / (1 + std::exp(-x.value));
    return {value, value * (std::expm1(x.error) + 2 * kFunction)};
}

inline Bounded softplus_of(Bounded x)
{
    const double value = std::log1p(std::exp(x.value));
    return {value, x.error + value * 2 * kFunction};
}

inline double length(std::span<const Bounded> x, double Bounded::*part = &Bounded::value)
{
    double squares = 0;
    for (const Bounded& one : x)
        squares += one.*part * (one.*part);
    return std::sqrt(squares);
}

/// x times factor / sqrt(divisor of the squares + epsilon) times weight
inline void norm(std::span<Bounded> x, double divisor, double epsilon, double factor, const float* weight)
{
    const double all = length(x), error = length(x, &Bounded::error);
    const double root = std::sqrt(all * all / divisor + epsilon);
    const double root_error = error / std::sqrt(divisor) + root * double(x.size() + 8) * kRounding;
    for (Bounded& one : x) {
        const double w = factor * (weight ? double(*weight++) : 1.0), value = one.value / root * w;
        one.error = std::abs(w) * one.error / root + std::abs(value) * (root_error / root + kFunction);
        one.error *= 1 / std::max(0.1, 1 - root_error / root);  // where the root itself comes out smaller
        one.value = value;
    }
}

inline std::vector<float> random_values(std::size_t n, float size, std::mt19937& random)
{
    std::vector<float> x(n);
    std::normal_distribution<float> normal(0.0f, size);
    for (float& v : x)
        v = normal(random);
    return x;
}

/// Holds a gated delta net or a Mamba-2, its state, and rows for it.
struct Layer {
    engine::StateSpace space;
    bool delta = false, heads_in_runs = false, sigmoid_gate = false;
    int rows = 0;
    float epsilon = 1e-6f;
    std::vector<float> taps, bias, dt_bias, a, d, norm;  // empty: none
    std::vector<float> state, mixed;                     // before; mixed: (rows, cols())

    int cols() const { return space.inner() + space.conv_channels() + (delta ? 2 : 1) * space.heads; }
    std::size_t state_floats() const { return std::size_t(space.history_floats() + space.matrix_floats()); }

    /// `place` returns the address of a vector of numbers. The caller sets the address of the state.
    template <class Place>
    engine::DeltaNetParameters delta_net(const Place& place) const
    {
        return {space,          heads_in_runs, sigmoid_gate, epsilon, place(taps),
                place(dt_bias), place(a),      place(norm),  nullptr};
    }
    template <class Place>
    engine::Mamba2Parameters mamba2(const Place& place) const
    {
        return {space, epsilon, place(taps), place(bias), place(dt_bias), place(a), place(d), place(norm), nullptr};
    }
};

inline Layer random_layer(bool delta, const engine::StateSpace& space, int rows, std::mt19937& random)
{
    Layer l{space, delta, random() % 2 == 0, random() % 2 == 0, rows, 1e-6f, {}, {}, {}, {}, {}, {}, {}, {}};
    const auto heads = std::size_t(space.heads), channels = std::size_t(space.conv_channels());
    l.taps = random_values(std::size_t(space.conv_width) * channels, 0.5f, random);
    l.dt_bias = random_values(heads, 1.0f, random);
    for (std::size_t head = 0; head < heads; ++head)
        l.a.push_back(-std::exp(std::normal_distribution<float>(-1.0f, 1.5f)(random)));
    if (delta) {
        l.norm = random_values(std::size_t(space.head_length), 1.0f, random);
    } else {
        l.d = random_values(heads, 1.0f, random);
        if (random() % 2)
            l.bias = random_values(channels, 0.3f, random);
        if (random() % 4)
            l.norm = random_values(std::size_t(space.inner()), 1.0f, random);
    }
    l.state = random_values(l.state_floats(), 0.3f, random);
    l.mixed = random_values(std::size_t(rows) * std::size_t(l.cols()), 1.0f, random);
    return l;
}

struct Expected {
    std::vector<Bounded> out;          // (rows, inner)
    std::vector<double> matrices;      // (heads, state_size, head_length)
    std::vector<double> column_error;  // (heads, head_length): of a column's length
    std::vector<float> history;        // exactly
};

/// Returns (rows, channels) of the rows from column `col` on; `history` is moved on.
inline std::vector<Bounded> convolved(const Layer& l, int col, std::vector<float>& history)
{
    const int channels = l.space.conv_channels(), width = l.space.conv_width;
    std::vector<Bounded> out;
    for (int t = 0; t < l.rows; ++t) {
        const float* x = l.mixed.data() + std::ptrdiff_t(t) * l.cols() + col;
        history.insert(history.end(), x, x + channels);
        for (int c = 0; c < channels; ++c) {
            std::vector<Bounded> terms;
            if (!l.bias.empty())
                terms.push_back({double(l.bias[std::size_t(c)]), 0});
            for (int j = 0; j < width; ++j)
                terms.push_back(Bounded{double(l.taps[std::size_t(j * channels + c)]), 0} *
                                Bounded{double(history[std::size_t((t + j) * channels + c)]), 0});
            const Bounded y = sum_of(terms);
            out.push_back(y * sigmoid_of(y));
        }
    }
    history.erase(history.begin(), history.end() - std::ptrdiff_t(width - 1) * channels);
    return out;
}

/// One head and one token. The state's columns go through decay (I - beta k k^T), which makes no error longer, since
/// the keys of the delta rule have the length one; so a column's error grows by what the token's inputs and roundings
/// add. A sum of n products is off by n roundings of its factors' lengths at most.
inline std::vector<Bounded> linear_attention(const Layer& l, int head, std::span<const Bounded> q,
                                             std::span<const Bounded> k, std::span<const Bounded> v, Bounded decay,
                                             Bounded beta, Expected& e)
{
    const auto keys = std::size_t(l.space.state_size), values = std::size_t(l.space.head_length);
    const double k_length = length(k), k_error = length(k, &Bounded::error);
    const double q_length = length(q), q_error = length(q, &Bounded::error);
    std::vector<Bounded> out;
    for (std::size_t c = 0; c < values; ++c) {
        double* m = e.matrices.data() + std::size_t(head) * keys * values + c;
        double seen = 0, before = 0;
        for (std::size_t key = 0; key < keys; ++key) {
            seen += m[key * values] * k[key].value;
            before += m[key * values] * m[key * values];
        }
        before = std::sqrt(before);
        const double seen_error = l.delta ? k_error * before + double(keys + 4) * kRounding * k_length * before : 0.0;
        const double delta = v[c].value - (l.delta ? decay.value * seen : 0.0);
        const double delta_error = v[c].error +
                                   (l.delta ? decay.value * seen_error + decay.error * std::abs(seen) : 0.0) +
                                   4 * kRounding * (std::abs(v[c].value) + std::abs(delta));
        const double d = beta.value * delta;
        const double d_error = (beta.value + beta.error) * delta_error + beta.error * std::abs(delta);
        Bounded sum;
        double after = 0;
        for (std::size_t key = 0; key < keys; ++key) {
            double& one = m[key * values];
            one = decay.value * one + k[key].value * d;
            sum.value += one * q[key].value;
            after += one * one;
        }
        after = std::sqrt(after);
        double& error = e.column_error[std::size_t(head) * values + c];
        error = (decay.value + decay.error) * error + decay.error * before + (k_length + k_error) * d_error +
                k_error * std::abs(d) + 3 * kRounding * (decay.value * before + k_length * std::abs(d) + after);
        sum.error = (q_length + q_error) * error + q_error * after + double(keys + 1) * kRounding * q_length * after;
        out.push_back(sum);
    }
    return out;
}

inline Expected expected(const Layer& l)
{
    const engine::StateSpace& s = l.space;
    const auto keys = std::size_t(s.state_size), values = std::size_t(s.head_length);
    const int inner = s.inner(), channels = s.conv_channels(), cols = l.cols();
    Expected e;
    e.history.assign(l.state.begin(), l.state.begin() + s.history_floats());
    e.matrices.assign(l.state.begin() + s.history_floats(), l.state.end());
    e.column_error.assign(std::size_t(inner), 0.0);
    std::vector<Bounded> rows = convolved(l, l.delta ? 0 : inner, e.history);
    const auto given = [&](int t, int col) {
        return Bounded{double(l.mixed[std::size_t(t) * std::size_t(cols) + std::size_t(col)]), 0};
    };
    for (int t = 0; t < l.rows; ++t) {
        const std::span<Bounded> row(rows.data() + std::ptrdiff_t(t) * channels, std::size_t(channels));
        const std::size_t q_begin = l.delta ? 0 : std::size_t(inner + s.groups * s.state_size);
        const std::size_t k_begin = l.delta ? std::size_t(s.groups * s.state_size) : std::size_t(inner);
        const std::size_t v_begin = l.delta ? std::size_t(2 * s.groups * s.state_size) : 0;
        for (int group = 0; l.delta && group < s.groups; ++group) {
            const std::size_t at = std::size_t(group) * keys;
            norm(row.subspan(q_begin + at, keys), 1, double(l.epsilon), 1 / std::sqrt(double(keys)), nullptr);
            norm(row.subspan(k_begin + at, keys), 1, double(l.epsilon), 1, nullptr);
        }
        for (int head = 0; head < s.heads; ++head) {
            const auto h = std::size_t(head);
            const int per_group = s.heads / s.groups;
            const int group = !l.delta || l.heads_in_runs ? head / per_group : head % s.groups;
            const std::size_t at = std::size_t(group) * keys;
            const auto v = row.subspan(v_begin + h * values, values);
            const int gate_col = l.delta ? channels + inner : inner + channels;  // beta, or dt
            const Bounded dt[] = {given(t, gate_col + head + (l.delta ? s.heads : 0)), {double(l.dt_bias[h]), 0}};
            const Bounded step = softplus_of(sum_of(dt));
            const Bounded decay = exp_of(step * Bounded{double(l.a[h]), 0});
            const Bounded beta = l.delta ? sigmoid_of(given(t, gate_col + head)) : step;
            std::vector<Bounded> out = linear_attention(l, head, row.subspan(q_begin + at, keys),
                                                        row.subspan(k_begin + at, keys), v, decay, beta, e);
            if (l.delta)
                norm(out, double(values), double(l.epsilon), 1, l.norm.data());
            for (std::size_t i = 0; i < values; ++i) {
                if (!l.delta) {
                    const Bounded parts[] = {out[i], Bounded{double(l.d[h]), 0} * v[i]};
                    out[i] = sum_of(parts);
                }
                const Bounded z = given(t, (l.delta ? channels : 0) + int(h * values + i));
                const Bounded gate = l.delta && l.sigmoid_gate ? sigmoid_of(z) : z * sigmoid_of(z);
                e.out.push_back(gate * out[i]);
            }
        }
        const std::size_t group_length = std::size_t(inner / s.groups);
        for (int group = 0; !l.delta && !l.norm.empty() && group < s.groups; ++group)
            norm({e.out.data() + std::size_t(t) * std::size_t(inner) + std::size_t(group) * group_length, group_length},
                 double(group_length), double(l.epsilon), 1, l.norm.data() + std::size_t(group) * group_length);
    }
    return e;
}

/// The largest difference as a share of what is allowed; at most 1 where all is right. out: (rows, inner); state: after
inline double worst_share(const Layer& l, const Expected& e, const std::vector<float>& out,
                          const std::vector<float>& state)
{
    double worst = 0;
    const auto see = [&](double difference, double allowed) {
        worst = std::max(worst, std::isnan(difference) ? INFINITY : difference / (allowed + 1e-30));
    };
    for (std::size_t i = 0; i < e.out.size(); ++i)
        see(std::abs(double(out[i]) - e.out[i].value), e.out[i].error);
    for (std::size_t i = 0; i < e.history.size(); ++i)
        see(std::abs(double(state[i]) - double(e.history[i])), 0);
    const auto keys = std::size_t(l.space.state_size), values = std::size_t(l.space.head_length);
    for (std::size_t column = 0; column < e.column_error.size(); ++column) {
        const std::size_t first = column / values * keys * values + column % values;
        double squares = 0;
        for (std::size_t key = 0; key < keys; ++key)
            squares +=
                std::pow(double(state[e.history.size() + first + key * values]) - e.matrices[first + key * values], 2);
        see(std::sqrt(squares), e.column_error[column]);
    }
    return worst;
}

/// A short convolution, its state, and rows for it.
struct ShortConvolution {
    int width, channels, rows;
    std::vector<float> taps, state, mixed;  // mixed: (rows, [b | c | u])

    ShortConvolution(int width, int channels, int rows, std::mt19937& random)
        : width(width)
        , channels(channels)
        , rows(rows)
        , taps(random_values(std::size_t(width * channels), 0.5f, random))
        , state(random_values(std::size_t((width - 1) * channels), 1.0f, random))
        , mixed(random_values(std::size_t(rows * 3 * channels), 1.0f, random))
    {
    }
    /// Does the same as the function above. out: (rows, channels)
    double worst_share(const std::vector<float>& out, const std::vector<float>& after) const
    {
        std::vector<float> inputs = state;
        for (int t = 0; t < rows; ++t)
            for (int i = 0; i < channels; ++i)
                inputs.push_back(at(t, i) * at(t, 2 * channels + i));
        if (!std::equal(after.begin(), after.end(), inputs.end() - (width - 1) * channels))
            return INFINITY;
        double worst = 0;
        for (int t = 0; t < rows; ++t)
            for (int i = 0; i < channels; ++i) {
                double sum = 0, parts = 0;
                for (int j = 0; j < width; ++j) {
                    const double term = double(taps[std::size_t(j * channels + i)]) *
                                        double(inputs[std::size_t((t + j) * channels + i)]);
                    sum += term;
                    parts += std::abs(term);
                }
                const double c = double(at(t, channels + i));
                const double difference = std::abs(double(out[std::size_t(t * channels + i)]) - c * sum);
                worst = std::max(worst, difference / ((width + 2) * kRounding * std::abs(c) * parts + 1e-30));
            }
        return worst;
    }

private:
    float at(int t, int col) const { return mixed[std::size_t(t * 3 * channels + col)]; }
};

}  // namespace recurrent_layers
