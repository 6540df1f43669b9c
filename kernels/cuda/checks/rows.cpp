#include "kernels/cuda/checks/checks.h"

#include "kernels/cpu.h"
#include "kernels/cuda/checks/compare.h"
#include "kernels/cuda/checks/gates.h"
#include "kernels/cuda/checks/rounded.h"
#include "kernels/cuda/ops.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <utility>

namespace kernels::cuda {

namespace {

/// (rows, n) values in rows that are `stride` apart; what lies between them belongs to others.
struct Rectangle {
    int rows = 0, n = 0, stride = 0;
    std::vector<float> values;

    float* row(int r) { return &values[std::size_t(r * stride)]; }
    const float* row(int r) const { return &values[std::size_t(r * stride)]; }
};

Rectangle random_rectangle(std::mt19937& random, int rows, int n, int stride, float size = 1.0f)
{
    std::normal_distribution<float> normal(0.0f, size);
    Rectangle r{rows, n, stride, std::vector<float>(std::size_t(rows * stride))};
    for (float& v : r.values)
        v = normal(random);
    return r;
}

Rectangle get(DeviceMemory& on, DevicePtr at, const Rectangle& shape)
{
    return {shape.rows, shape.n, shape.stride, on.get<float>(at, shape.values.size())};
}

double largest_of(const float* a, int n)
{
    double largest = 0;
    for (int i = 0; i < n; ++i)
        largest = std::max(largest, std::abs(double(a[i])));
    return largest;
}

/// Returns the largest error as a share of its tolerance: this many roundings, each half an epsilon of what
/// `magnitude(row, column)` says is rounded.
template <class Magnitude>
double error_of(const Rectangle& actual, const Rectangle& expected, double roundings, const Magnitude& magnitude)
{
    double worst = 0;
    for (int r = 0; r < expected.rows; ++r)
        for (int i = 0; i < expected.stride; ++i) {
            const double tolerance = i < expected.n ? roundings * kHalfEpsilon * magnitude(r, i) : 0;
            worst = std::max(worst, share_of(tolerance, double(actual.row(r)[i]), double(expected.row(r)[i])));
        }
    return worst;
}

// Squares are all positive, so each rounding of the sum is at most a relative half epsilon: as many in a row as a
// thread or lane adds, and ten for the tree. The square root halves them; the quotient, root and two products add four
// more. A thread of RMSNorm has quads.
double norm_error(const Rectangle& actual, const Rectangle& expected, int added_by_a_thread)
{
    return error_of(actual, expected, (added_by_a_thread + 10) / 2.0 + 4,
                    [&](int r, int i) { return std::abs(double(expected.row(r)[i])); });
}

Checked check_rms_norm(const Driver& driver, unsigned seed)
{
    std::mt19937 random(seed);
    Checked checked;
    for (const int dim : {1, 31, 64, 512, 1000, 4096}) {
        const Rectangle x = random_rectangle(random, 3, dim, dim + 5);
        const Rectangle weight = random_rectangle(random, 1, dim, dim);
        DeviceMemory on(driver);
        const DevicePtr at = on.put(x.values);
        on.keep(
            rms_norm(driver, on.queue(), {at, x.stride}, on.put(weight.values), 1e-5f, x.rows, dim, {at, x.stride}));
        Rectangle expected = x;
        for (int r = 0; r < x.rows; ++r)
            scalar().rms_norm(dim, expected.row(r), weight.row(0), 1e-5f, expected.row(r));
        const int added = std::max(4, (dim + 511) / 512);
        note(checked, on, norm_error(get(on, at, x), expected, added), std::to_string(dim) + " values");
    }
    return checked;
}

// Checks a norm that also writes its result in 8 bits; the norms are what they are without that.
Checked check_rounded_norm(const Driver& driver, unsigned seed)
{
    std::mt19937 random(seed);
    Checked checked;
    for (const int dim : {32, 96, 576, 4096, 9216}) {
        const Rectangle x = random_rectangle(random, 2, dim, dim + 4);
        const Rectangle weight = random_rectangle(random, 1, dim, dim);
        DeviceMemory on(driver);
        RoundedCheck rounded(on, x.rows, dim);
        const DevicePtr at = on.put(x.values), out = on.room(x.values.size() * sizeof(float));
        const DevicePtr weights = on.put(weight.values);
        on.keep(rms_norm(driver, on.queue(), {at, x.stride}, weights, 1e-5f, x.rows, dim, {out, dim}, rounded.to()));
        on.keep(rms_norm(driver, on.queue(), {at, x.stride}, weights, 1e-5f, x.rows, dim, {at, x.stride}));
        const Rectangle plain = get(on, at, x);
        const std::vector<float> norms = on.get<float>(out, std::size_t(x.rows * dim));
        double worst = rounded.error(norms);
        for (int r = 0; r < x.rows; ++r)
            for (int i = 0; i < dim; ++i)
                worst = std::max(worst, share_of(0, double(norms[std::size_t(r * dim + i)]), double(plain.row(r)[i])));
        note(checked, on, worst, std::to_string(dim) + " values");
    }
    return checked;
}

/// Bounds how large values can be once their mean is taken off and they are normed.
double size_of_normed(const float* x, int n)
{
    double mean = 0, squares = 0;
    for (int i = 0; i < n; ++i)
        mean += double(x[i]) / n;
    for (int i = 0; i < n; ++i)
        squares += (double(x[i]) - mean) * (double(x[i]) - mean) / n;
    return 2 * largest_of(x, n) / std::sqrt(squares + 1e-5);
}

// The mean is wrong by as many roundings of the largest value as a thread or lane adds, and the tree; so is a
// difference from it, and the squares by twice that share.
double layer_norm_roundings(int added_by_a_thread)
{
    return added_by_a_thread + 16;
}

Checked check_layer_norm(const Driver& driver, unsigned seed)
{
    std::mt19937 random(seed);
    Checked checked;
    for (const int dim : {2, 31, 64, 512, 1000, 4096}) {
        Rectangle x = random_rectangle(random, 3, dim, dim + 5);
        for (float& v : x.values)
            v += 1.5f;
        const Rectangle weight = random_rectangle(random, 1, dim, dim);
        DeviceMemory on(driver);
        const DevicePtr at = on.put(x.values);
        on.keep(
            layer_norm(driver, on.queue(), {at, x.stride}, on.put(weight.values), 1e-5f, x.rows, dim, {at, x.stride}));
        Rectangle expected = x;
        std::vector<double> sizes;
        for (int r = 0; r < x.rows; ++r) {
            scalar().layer_norm(dim, expected.row(r), weight.row(0), 1e-5f, expected.row(r));
            sizes.push_back(size_of_normed(x.row(r), dim));
        }
        const double roundings = layer_norm_roundings((dim + 511) / 512);
        const double share = error_of(get(on, at, x), expected, roundings, [&](int r, int i) {
            const double size = sizes[std::size_t(r)];
            return std::abs(double(weight.row(0)[i])) * size * (1 + size);
        });
        note(checked, on, share, std::to_string(dim) + " values");
    }
    return checked;
}

// Checks that each head has weights of its own, and that what lies between heads stays as it is.
Checked check_layer_norm_heads(const Driver& driver, unsigned seed)
{
    std::mt19937 random(seed);
    Checked checked;
    for (const int count : {1, 3, 4, 9})
        for (const int length : {16, 80, 128})
            for (const int apart : {0, 16}) {
                const int head_stride = length + apart, n = count * head_stride;
                Rectangle x = random_rectangle(random, 2, n, n + 16);
                for (float& v : x.values)
                    v += 1.5f;
                const Rectangle weights = random_rectangle(random, count, length, length);
                DeviceMemory on(driver);
                const DevicePtr at = on.put(x.values);
                on.keep(layer_norm_heads(driver, on.queue(), {at, x.stride}, {count, length, head_stride},
                                         on.put(weights.values), 1e-5f, x.rows));
                Rectangle expected = x;
                std::vector<double> sizes;  // (rows, heads)
                for (int r = 0; r < x.rows; ++r)
                    for (int h = 0; h < count; ++h) {
                        float* const head = expected.row(r) + h * head_stride;
                        scalar().layer_norm(length, head, weights.row(h), 1e-5f, head);
                        sizes.push_back(size_of_normed(x.row(r) + h * head_stride, length));
                    }
                const double roundings = layer_norm_roundings((length + 31) / 32);
                const double share = error_of(get(on, at, x), expected, roundings, [&](int r, int i) {
                    const int h = i / head_stride, value = i % head_stride;
                    const double size = sizes[std::size_t(r * count + h)];
                    return value < length ? std::abs(double(weights.row(h)[value])) * size * (1 + size) : 0;
                });
                note(checked, on, share,
                     std::to_string(count) + " heads of " + std::to_string(length) + (apart > 0 ? ", apart" : ""));
            }
    return checked;
}

// Checks norms of heads in place, and of heads that lie further apart, whose results are written one after another.
Checked check_norm_heads(const Driver& driver, unsigned seed)
{
    std::mt19937 random(seed);
    Checked checked;
    for (const int count : {1, 3, 4, 9})
        for (const int length : {64, 80, 128})
            for (const bool moved : {false, true}) {
                const int from = moved ? count * length : 0, head_stride = moved ? 2 * length : length;
                const int n = from + count * head_stride;
                const Rectangle x = random_rectangle(random, 2, n, n + 16);
                const Rectangle weight = random_rectangle(random, 1, length, length);
                DeviceMemory on(driver);
                const DevicePtr at = on.put(x.values);
                on.keep(norm_heads(driver, on.queue(), {at + std::size_t(from) * sizeof(float), x.stride},
                                   {count, length, head_stride}, on.put(weight.values), 1e-6f, x.rows, {at, x.stride}));
                Rectangle expected = x;
                for (int r = 0; r < x.rows; ++r)
                    for (int h = 0; h < count; ++h)
                        scalar().rms_norm(length, x.row(r) + from + h * head_stride, weight.row(0), 1e-6f,
                                          expected.row(r) + h * length);
                note(checked, on, norm_error(get(on, at, x), expected, (length + 31) / 32),
                     std::to_string(count) + " heads of " + std::to_string(length) + (moved ? ", moved" : ""));
            }
    return checked;
}

// As for gates: four roundings of an argument up to 40, and a handful more.
constexpr double kSigmoidRoundings = 4 * 40 + 8;

Checked check_gate_heads(const Driver& driver, unsigned seed)
{
    std::mt19937 random(seed);
    Checked checked;
    for (const auto& [count, length, head_stride] : {std::array{1, 7, 7}, {3, 64, 128}, {5, 80, 80}}) {
        const Rectangle gates = random_rectangle(random, 2, count * head_stride, count * head_stride + 4, 6.0f);
        const Rectangle x = random_rectangle(random, 2, count * length, count * length + 8);
        DeviceMemory on(driver);
        const DevicePtr at = on.put(x.values);
        on.keep(gate_heads(driver, on.queue(), {on.put(gates.values), gates.stride}, {count, length, head_stride}, 2,
                           {at, x.stride}));
        Rectangle expected = x;
        for (int r = 0; r < 2; ++r)
            for (int h = 0; h < count; ++h) {
                float* values = expected.row(r) + h * length;
                scalar().sigmoid_mul(length, gates.row(r) + h * head_stride, values, values);
            }
        note(checked, on,
             error_of(get(on, at, x), expected, kSigmoidRoundings,
                      [&](int r, int i) { return std::abs(double(x.row(r)[i])); }),
             std::to_string(count) + " heads of " + std::to_string(length));
    }
    return checked;
}

Checked check_copy_heads(const Driver& driver, unsigned seed)
{
    std::mt19937 random(seed);
    Checked checked;
    for (const auto& [count, length, from, to] : {std::array{1, 7, 7, 9}, {3, 64, 128, 70}, {20, 64, 256, 576}}) {
        const Rectangle x = random_rectangle(random, 2, count * from, count * from + 3);
        const Rectangle out = random_rectangle(random, 2, count * to, count * to + 8);
        DeviceMemory on(driver);
        const DevicePtr at = on.put(out.values);
        on.keep(copy_heads(driver, on.queue(), {on.put(x.values), x.stride}, {count, length, from}, 2, {at, out.stride},
                           to));
        Rectangle expected = out;
        for (int r = 0; r < 2; ++r)
            for (int h = 0; h < count; ++h)
                std::copy_n(x.row(r) + h * from, length, expected.row(r) + h * to);
        note(checked, on, share_of_same(get(on, at, out).values, expected.values),
             std::to_string(count) + " heads of " + std::to_string(length));
    }
    return checked;
}

Checked check_weigh_rows(const Driver& driver, unsigned seed)
{
    std::mt19937 random(seed);
    Checked checked;
    for (const int n : {1, 256, 1000}) {
        const Rectangle weights = random_rectangle(random, 3, 1, 1, 4.0f);
        const Rectangle x = random_rectangle(random, 3, n, n + 3);
        DeviceMemory on(driver);
        const DevicePtr at = on.put(x.values);
        on.keep(weigh_rows(driver, on.queue(), {on.put(weights.values), 1}, 3, n, {at, x.stride}));
        Rectangle expected = x;
        for (int r = 0; r < 3; ++r)
            for (int i = 0; i < n; ++i)
                expected.row(r)[i] = float(double(x.row(r)[i]) / (1 + std::exp(-double(*weights.row(r)))));
        note(checked, on,
             error_of(get(on, at, x), expected, kSigmoidRoundings,
                      [&](int r, int i) { return std::abs(double(x.row(r)[i])); }),
             std::to_string(n) + " values");
    }
    return checked;
}

Checked check_rope(const Driver& driver, unsigned seed, RopePairs order)
{
    std::mt19937 random(seed);
    Checked checked;
    for (const auto& [length, pairs] : {std::pair{64, 32}, {128, 64}, {80, 16}, {12, 1}}) {
        const int rows = 3, heads = 5;
        const Rectangle x = random_rectangle(random, rows, heads * length, heads * length + 8);
        std::vector<float> cos, sin;
        for (int i = 0; i < rows * pairs; ++i) {
            cos.push_back(std::cos(0.37f * float(i)));
            sin.push_back(std::sin(0.37f * float(i)));
        }
        DeviceMemory on(driver);
        const DevicePtr at = on.put(x.values);
        on.keep(rope(driver, on.queue(), {at, x.stride}, heads, length, on.put(cos), on.put(sin), pairs, order, rows));
        Rectangle expected = x;
        for (int r = 0; r < rows; ++r)
            for (int h = 0; h < heads; ++h)
                scalar().rope(order == RopePairs::Halves, 2 * pairs, &cos[std::size_t(r * pairs)],
                              &sin[std::size_t(r * pairs)], expected.row(r) + h * length);
        // Two products and their difference, once fused and once not: five roundings of at most the pair's length.
        const double share =
            error_of(get(on, at, x), expected, 5, [&](int r, int) { return 2 * largest_of(x.row(r), x.n); });
        note(checked, on, share, std::to_string(2 * pairs) + " of " + std::to_string(length));
    }
    return checked;
}

Checked check_add(const Driver& driver, unsigned seed)
{
    std::mt19937 random(seed);
    Checked checked;
    for (const int n : {1, 255, 256, 1000}) {
        const Rectangle x = random_rectangle(random, 2, n, n + 3);
        const Rectangle y = random_rectangle(random, 2, n, n + 1);
        DeviceMemory on(driver);
        const DevicePtr at = on.put(x.values);
        on.keep(add(driver, on.queue(), {on.put(y.values), y.stride}, 2, n, {at, x.stride}));
        Rectangle expected = x;
        for (int r = 0; r < 2; ++r)
            scalar().add(n, y.row(r), expected.row(r));
        note(checked, on, share_of_same(get(on, at, x).values, expected.values), std::to_string(n) + " values");
    }
    return checked;
}

Checked check_soft_cap(const Driver& driver, unsigned seed)
{
    std::mt19937 random(seed);
    const Rectangle x = random_rectangle(random, 2, 300, 300, 40.0f);
    DeviceMemory on(driver);
    const DevicePtr at = on.put(x.values);
    on.keep(soft_cap(driver, on.queue(), 30.0f, 2, x.n, {at, x.stride}));
    Rectangle expected = x;
    for (float& v : expected.values)
        v = 30.0f * std::tanh(v / 30.0f);
    Checked checked;
    // tanh is good to two units in the last place.
    note(checked, on, error_of(get(on, at, x), expected, 8, [](int, int) { return 30.0; }), "300 values");
    return checked;
}

Checked check_scale(const Driver& driver, unsigned seed)
{
    std::mt19937 random(seed);
    Checked checked;
    for (const int n : {1, 255, 300}) {
        const Rectangle x = random_rectangle(random, 2, n, n + 2);
        DeviceMemory on(driver);
        const DevicePtr at = on.put(x.values);
        on.keep(scale(driver, on.queue(), 0.37f, 2, n, {at, x.stride}));
        Rectangle expected = x;
        for (int r = 0; r < 2; ++r)
            for (int i = 0; i < n; ++i)
                expected.row(r)[i] *= 0.37f;
        note(checked, on, share_of_same(get(on, at, x).values, expected.values), std::to_string(n) + " values");
    }
    return checked;
}

Checked check_gate(const Driver& driver, unsigned seed, const Gating& gating)
{
    std::mt19937 random(seed);
    Checked checked;
    for (const int n : {1, 77, 256, 700}) {
        const Rectangle x = random_rectangle(random, 2, 2 * n, 2 * n, 6.0f);
        DeviceMemory on(driver);
        const Rows in{on.put(x.values), x.stride};
        const Rows out = n % 2 ? Rows{on.put(std::vector<float>(std::size_t(2 * n))), n} : in;  // or in its place
        on.keep(gated(driver, on.queue(), gating, in, {in.at + std::size_t(n) * sizeof(float), in.stride}, 2, n, out));
        const std::vector<float> all = on.get<float>(out.at, std::size_t(2 * out.stride));
        double worst = 0;
        for (int r = 0; r < 2; ++r)
            worst = std::max(
                worst, gate_error(gating, {&all[std::size_t(r * out.stride)], std::size_t(n)}, x.row(r), x.row(r) + n));
        note(checked, on, worst, std::to_string(n) + " values");
    }
    return checked;
}

// Checks gates and ups in matrices of their own, the ups from a column on.
Checked check_gate_apart(const Driver& driver, unsigned seed)
{
    constexpr int kN = 96, kCol = 7;
    std::mt19937 random(seed);
    const Gating gating = all_gatings().front().gating;
    const Rectangle gates = random_rectangle(random, 3, kN, kN + 1, 6.0f);
    const Rectangle up = random_rectangle(random, 3, kN + kCol, 2 * kN, 6.0f);
    DeviceMemory on(driver);
    const DevicePtr out = on.room(std::size_t(3 * kN) * sizeof(float));
    on.keep(gated(driver, on.queue(), gating, {on.put(gates.values), gates.stride},
                  {on.put(up.values) + kCol * sizeof(float), up.stride}, 3, kN, {out, kN}));
    const std::vector<float> all = on.get<float>(out, std::size_t(3 * kN));
    Checked checked;
    for (int r = 0; r < 3; ++r)
        note(checked, on,
             gate_error(gating, {&all[std::size_t(r * kN)], std::size_t(kN)}, gates.row(r), up.row(r) + kCol),
             "row " + std::to_string(r));
    return checked;
}

// Checks that gated values are rounded to the bytes which the reference makes of the values that gated() writes.
Checked check_rounded_gate(const Driver& driver, unsigned seed, const Gating& gating)
{
    constexpr int kRows = 3;
    std::mt19937 random(seed);
    Checked checked;
    for (const int n : {32, 96, 544, 1056}) {  // part of a thread block, and parts of two
        const Rectangle x = random_rectangle(random, kRows, 2 * n, 2 * n + 4, 6.0f);
        DeviceMemory on(driver);
        const RoundedCheck rounded(on, kRows, n);
        const Rows gates{on.put(x.values), x.stride};
        const Rows up{gates.at + std::size_t(n) * sizeof(float), x.stride};
        const Rows out{on.room(std::size_t(kRows * n) * sizeof(float)), n};
        on.keep(gated(driver, on.queue(), gating, gates, up, kRows, n, out));
        on.keep(gated_q8(driver, on.queue(), gating, gates, up, kRows, n, rounded.to()));
        note(checked, on, rounded.error(on.get<float>(out.at, std::size_t(kRows * n))), std::to_string(n) + " values");
    }
    return checked;
}

// Checks that the bytes are those that the reference makes.
Checked check_quantize(const Driver& driver, unsigned seed)
{
    std::mt19937 random(seed);
    Checked checked;
    for (const int n : {32, 64, 96, 288, 1024}) {
        const int rows = 3;
        Rectangle x = random_rectangle(random, rows, n, n + 4);
        for (std::size_t i = 0; i < x.values.size(); ++i)  // groups of very different size
            x.values[i] = std::ldexp(x.values[i], int(i / 32 % 40) * 3 - 60);
        std::fill_n(x.row(1), 32, 0.0f);
        x.row(2)[5] = NAN;
        x.row(2)[7] = 3e38f;
        const std::size_t stride = activation_row_bytes(Activation::Q8, n);
        const std::vector<std::byte> untouched(stride * std::size_t(rows), std::byte(0x5a));
        DeviceMemory on(driver);
        const DevicePtr out = on.put(untouched);
        on.keep(quantize_q8(driver, on.queue(), {on.put(x.values), x.stride}, rows, n, {out, stride}));
        std::vector<std::byte> expected = untouched;
        for (int r = 0; r < rows; ++r)
            scalar().quantize_q8(n, x.row(r), &expected[std::size_t(r) * stride]);
        note(checked, on, share_of_same(on.get<std::byte>(out, expected.size()), expected),
             std::to_string(n) + " values");
    }
    return checked;
}

}  // namespace

void add_row_checks(std::vector<KernelCheck>& checks)
{
    checks.push_back({"norm of rows", check_rms_norm});
    checks.push_back({"norm of rows, rounded", check_rounded_norm});
    checks.push_back({"norm of heads", check_norm_heads});
    checks.push_back({"norm of rows less their mean", check_layer_norm});
    checks.push_back({"norm of heads less their mean", check_layer_norm_heads});
    checks.push_back({"gates of heads", check_gate_heads});
    checks.push_back({"copies of heads", check_copy_heads});
    checks.push_back({"weights of rows", check_weigh_rows});
    checks.push_back({"rotation of neighbours",
                      [](const Driver& d, unsigned seed) { return check_rope(d, seed, RopePairs::Neighbours); }});
    checks.push_back(
        {"rotation of halves", [](const Driver& d, unsigned seed) { return check_rope(d, seed, RopePairs::Halves); }});
    checks.push_back({"sum of rows", check_add});
    checks.push_back({"rows times a factor", check_scale});
    checks.push_back({"soft cap", check_soft_cap});
    for (const NamedGating& gate : all_gatings())
        checks.push_back({gate.name, [&](const Driver& d, unsigned seed) { return check_gate(d, seed, gate.gating); }});
    for (const NamedGating& gate : all_gatings())
        checks.push_back({std::string(gate.name) + ", rounded",
                          [&](const Driver& d, unsigned seed) { return check_rounded_gate(d, seed, gate.gating); }});
    checks.push_back({"gates in rows of their own", check_gate_apart});
    checks.push_back({"rounding to 8 bits", check_quantize});
}

}  // namespace kernels::cuda
