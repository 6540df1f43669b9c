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

// Two computations, each with a product and a sum for every tap.
double convolution_roundings(int width)
{
    return 2 * (width + 2) * kHalfEpsilon;
}

/// A convolution, its rows, and the same done by the reference.
struct ConvolutionCase {
    int width, channels, rows, stride;
    std::vector<float> taps, bias, history, x;
    std::vector<float> history_after, after;
    std::vector<double> sizes;  // (rows, channels): of what is summed

    ConvolutionCase(int width, int channels, int rows, int stride, bool silu, bool has_bias, std::mt19937& random)
        : width(width)
        , channels(channels)
        , rows(rows)
        , stride(stride)
        , taps(normal_values(width * channels, 0.5f, random))
        , bias(has_bias ? normal_values(channels, 0.5f, random) : std::vector<float>())
        , history(normal_values((width - 1) * channels, 1.0f, random))
        , x(normal_values(rows * stride, 1.0f, random))
    {
        compute(silu);
    }
    /// Computes what the reference makes of the x that there is now.
    void compute(bool silu)
    {
        history_after = history;
        after = x;
        scalar().short_convolution({.channels = channels,
                                    .width = width,
                                    .taps = taps.data(),
                                    .bias = bias.empty() ? nullptr : bias.data(),
                                    .history = history_after.data(),
                                    .tap_stride = std::size_t(channels),
                                    .history_stride = std::size_t(channels),
                                    .tokens = rows,
                                    .x = after.data(),
                                    .x_stride = std::size_t(stride),
                                    .silu = silu});
        sizes.assign(std::size_t(rows * channels), 0.0);
        for (int t = 0; t < rows; ++t)
            for (int c = 0; c < channels; ++c) {
                double& size = sizes[std::size_t(t * channels + c)];
                size = bias.empty() ? 0.0 : std::abs(double(bias[std::size_t(c)]));
                for (int j = 0; j < width; ++j) {
                    const int from = t - width + 1 + j;
                    const float input = from < 0 ? history[std::size_t((from + width - 1) * channels + c)]
                                                 : x[std::size_t(from * stride + c)];
                    size += std::abs(double(input) * double(taps[std::size_t(j * channels + c)]));
                }
            }
    }
    Convolution put(DeviceMemory& on) const
    {
        return {channels, width, on.put(taps), bias.empty() ? 0 : on.put(bias), on.put(history), rows};
    }
};

Checked check_convolve_silu(const Driver& driver, unsigned seed)
{
    struct Shape {
        int width, rows, heads, length, others;
    };
    std::mt19937 random(seed);
    Checked checked;
    for (const Shape& s : {Shape{4, 1, 4, 128, 256}, Shape{4, 21, 2, 64, 100}, Shape{3, 2, 2, 20, 7},
                           Shape{2, 9, 0, 0, 300}, Shape{1, 8, 2, 256, 1}}) {
        const int channels = s.heads * s.length + s.others;
        ConvolutionCase c(s.width, channels, s.rows, channels + 6, true, s.heads == 0, random);
        DeviceMemory on(driver);
        const Convolution convolution = c.put(on);
        const DevicePtr at = on.put(c.x);
        on.keep(convolve_silu(driver, on.queue(), convolution, {at, c.stride}, {s.heads, s.length, 1e-6f}));
        const std::vector<float> actual = on.get<float>(at, c.x.size());
        double worst = share_of_same(on.get<float>(convolution.history, c.history.size()), c.history_after);
        for (int t = 0; t < s.rows; ++t) {
            float* row = c.after.data() + t * c.stride;
            std::vector<double> allowed(std::size_t(c.stride), 0.0);
            for (int i = 0; i < channels; ++i)  // silu's slope is at most 1.1
                allowed[std::size_t(i)] =
                    1.1 * convolution_roundings(s.width) * c.sizes[std::size_t(t * channels + i)] +
                    kGateRoundings * std::abs(double(row[i]));
            for (int head = 0; head < s.heads; ++head) {
                float* values = row + head * s.length;
                double* errors = allowed.data() + head * s.length;
                const double root = std::sqrt(std::pow(length_of(values, s.length), 2) + 1e-6);
                double error = 0;
                for (int i = 0; i < s.length; ++i)
                    error += errors[i] * errors[i];
                const double factor = head < s.heads / 2 ? 1 / std::sqrt(double(s.length)) : 1.0;
                scalar().l2_norm(s.length, values, 1e-6f, float(factor), values);
                for (int i = 0; i < s.length; ++i)
                    errors[i] =
                        errors[i] * factor / root +
                        std::abs(double(values[i])) * (std::sqrt(error) / root + (s.length + 16) * kHalfEpsilon);
            }
            for (int i = 0; i < c.stride; ++i)
                worst = std::max(worst, share_of(allowed[std::size_t(i)], double(actual[std::size_t(t * c.stride + i)]),
                                                 double(row[i])));
        }
        note(checked, on, worst, std::to_string(s.rows) + " rows of " + std::to_string(channels));
    }
    return checked;
}

Checked check_gated_convolution(const Driver& driver, unsigned seed)
{
    std::mt19937 random(seed);
    Checked checked;
    for (const auto& [width, channels, rows] : {std::array{3, 200, 1}, {3, 128, 19}, {4, 7, 2}, {1, 33, 8}}) {
        const int stride = 3 * channels + 5;
        const std::vector<float> mixed = normal_values(rows * stride, 1.0f, random);
        ConvolutionCase c(width, channels, rows, channels, false, false, random);
        for (int t = 0; t < rows; ++t)
            for (int i = 0; i < channels; ++i)
                c.x[std::size_t(t * channels + i)] =
                    mixed[std::size_t(t * stride + i)] * mixed[std::size_t(t * stride + 2 * channels + i)];
        c.compute(false);
        DeviceMemory on(driver);
        const Convolution convolution = c.put(on);
        const int out_stride = channels + 3;
        const std::vector<float> untouched(std::size_t(rows * out_stride), -7.0f);
        const DevicePtr out = on.put(untouched);
        on.keep(gated_convolution(driver, on.queue(), convolution, {on.put(mixed), stride}, {out, out_stride}));
        const std::vector<float> actual = on.get<float>(out, untouched.size());
        double worst = share_of_same(on.get<float>(convolution.history, c.history.size()), c.history_after);
        for (int t = 0; t < rows; ++t)
            for (int i = 0; i < out_stride; ++i) {
                const bool there = i < channels;
                const double gate = there ? double(mixed[std::size_t(t * stride + channels + i)]) : 0.0;
                const auto at = std::size_t(t * channels + i);
                const double expected = there ? gate * double(c.after[at]) : -7.0;
                const double allowed =
                    there ? std::abs(gate) * (convolution_roundings(width) + 2 * kHalfEpsilon) * c.sizes[at] : 0.0;
                worst = std::max(worst, share_of(allowed, double(actual[std::size_t(t * out_stride + i)]), expected));
            }
        note(checked, on, worst, std::to_string(rows) + " rows of " + std::to_string(channels));
    }
    return checked;
}

Checked check_norm_and_gate(const Driver& driver, unsigned seed, StateGate gate)
{
    std::mt19937 random(seed);
    Checked checked;
    for (const auto& [heads, length, rows] : {std::array{4, 128, 1}, {5, 64, 3}, {1, 17, 2}}) {
        const int n = heads * length, stride = n + 7;
        const std::vector<float> y = normal_values(rows * stride, 1.0f, random);
        const std::vector<float> z = normal_values(rows * stride, 2.0f, random);
        const std::vector<float> weight = normal_values(length, 1.0f, random);
        DeviceMemory on(driver);
        const DevicePtr at = on.put(y);
        on.keep(norm_and_gate(driver, on.queue(), {at, stride}, {on.put(z), stride}, heads, length, on.put(weight),
                              1e-6f, gate, rows));
        const std::vector<float> actual = on.get<float>(at, y.size());
        double worst = 0;
        for (int t = 0; t < rows; ++t) {
            std::vector<float> expected(y.begin() + t * stride, y.begin() + (t + 1) * stride);
            for (int head = 0; head < heads; ++head) {
                float* one = expected.data() + head * length;
                scalar().rms_norm(length, one, weight.data(), 1e-6f, one);
            }
            const auto gated = gate == StateGate::Sigmoid ? scalar().sigmoid_mul : scalar().silu_mul;
            gated(n, z.data() + t * stride, expected.data(), expected.data());
            for (int i = 0; i < stride; ++i) {
                const double one = double(expected[std::size_t(i)]);
                const double allowed = i < n ? std::abs(one) * (kGateRoundings + length / 32.0 * kHalfEpsilon) : 0;
                worst = std::max(worst, share_of(allowed, double(actual[std::size_t(t * stride + i)]), one));
            }
        }
        note(checked, on, worst, std::to_string(heads) + " heads of " + std::to_string(length));
    }
    return checked;
}

Checked check_gate_and_norm(const Driver& driver, unsigned seed)
{
    std::mt19937 random(seed);
    Checked checked;
    struct Shape {
        int heads, length, groups, rows;
        bool norm;
    };
    for (const Shape& s : {Shape{8, 64, 1, 1, true}, Shape{6, 40, 3, 2, true}, Shape{4, 7, 2, 3, false}}) {
        const int n = s.heads * s.length, stride = n + 3, group = n / s.groups;
        const std::vector<float> y = normal_values(s.rows * stride, 1.0f, random);
        const std::vector<float> x = normal_values(s.rows * stride, 1.0f, random);
        const std::vector<float> z = normal_values(s.rows * stride, 2.0f, random);
        const std::vector<float> d = normal_values(s.heads, 1.0f, random), weight = normal_values(n, 1.0f, random);
        DeviceMemory on(driver);
        const DevicePtr at = on.put(y);
        on.keep(gate_and_norm(driver, on.queue(),
                              {.heads = s.heads,
                               .length = s.length,
                               .groups = s.groups,
                               .y = {at, stride},
                               .x = {on.put(x), stride},
                               .z = {on.put(z), stride},
                               .d = on.put(d),
                               .weight = s.norm ? on.put(weight) : 0,
                               .epsilon = 1e-5f},
                              s.rows));
        const std::vector<float> actual = on.get<float>(at, y.size());
        double worst = 0;
        for (int t = 0; t < s.rows; ++t) {
            std::vector<float> expected(y.begin() + t * stride, y.begin() + (t + 1) * stride);
            std::vector<double> allowed(std::size_t(stride), 0.0);
            for (int i = 0; i < n; ++i) {
                const auto at_row = std::size_t(t * stride + i);
                const float added = d[std::size_t(i / s.length)] * x[at_row];
                const double gate = std::abs(double(z[at_row]) / (1 + std::exp(-double(z[at_row]))));
                allowed[std::size_t(i)] =
                    gate * kGateRoundings * (std::abs(double(y[at_row])) + std::abs(double(added)));
                expected[std::size_t(i)] += added;
            }
            scalar().silu_mul(n, z.data() + t * stride, expected.data(), expected.data());
            for (int first = 0; s.norm && first < n; first += group) {
                const double root =
                    std::sqrt(std::pow(length_of(expected.data() + first, group), 2) / group + double(1e-5f));
                double error = 0;
                for (int i = first; i < first + group; ++i)
                    error += allowed[std::size_t(i)] * allowed[std::size_t(i)];
                scalar().rms_norm(group, expected.data() + first, weight.data() + first, 1e-5f,
                                  expected.data() + first);
                for (int i = first; i < first + group; ++i)
                    allowed[std::size_t(i)] =
                        std::abs(double(weight[std::size_t(i)])) * allowed[std::size_t(i)] / root +
                        std::abs(double(expected[std::size_t(i)])) *
                            (std::sqrt(error / group) / root + (group / 512.0 + 16) * kHalfEpsilon);
            }
            for (int i = 0; i < stride; ++i)
                worst = std::max(worst, share_of(allowed[std::size_t(i)], double(actual[std::size_t(t * stride + i)]),
                                                 double(expected[std::size_t(i)])));
        }
        note(checked, on, worst, std::to_string(s.heads) + " heads of " + std::to_string(s.length));
    }
    return checked;
}

}  // namespace

void add_recurrent_checks(std::vector<KernelCheck>& checks)
{
    checks.push_back({"convolution of heads", check_convolve_silu});
    checks.push_back({"gated convolution", check_gated_convolution});
    checks.push_back({"norm, then silu",
                      [](const Driver& d, unsigned seed) { return check_norm_and_gate(d, seed, StateGate::Silu); }});
    checks.push_back({"norm, then sigmoid",
                      [](const Driver& d, unsigned seed) { return check_norm_and_gate(d, seed, StateGate::Sigmoid); }});
    checks.push_back({"gate, then norm", check_gate_and_norm});
}

}  // namespace kernels::cuda
