#include "kernels/cuda/streams.h"
#include "kernels/cuda/checks/checks.h"
#include "kernels/cuda/checks/compare.h"
#include "kernels/cuda/checks/random_values.h"
#include "kernels/cuda/ops.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

namespace kernels::cuda {

namespace {

struct StreamCase {
    int rows, count, dim;
    int stride() const { return count * dim + 3; }
    std::string name() const { return std::to_string(count) + " streams of " + std::to_string(dim); }
};
constexpr StreamCase kStreamCases[] = {{1, 4, 64}, {3, 4, 300}, {2, 2, 1}, {2, kMostStreams, 513}};

/// A sum of products, in double precision, and the sum of their sizes.
struct Summed {
    double sum = 0, size = 0;
    void add(double product)
    {
        sum += product;
        size += std::abs(product);
    }
};

/// Returns (coefficients routed)[i] of one row.
Summed times_routed(const std::vector<float>& coefficients, const float* routed, int i, int count)
{
    Summed s;
    for (int k = 0; k < count; ++k)
        s.add(double(coefficients[std::size_t(i * count + k)]) * double(routed[k]));
    return s;
}

/// Holds what all checks of streams begin with, on the device and here.
struct OnDevice {
    OnDevice(const Driver& its_driver, const StreamCase& c, std::mt19937& of_case)
        : driver(its_driver)
        , random(of_case)
        , shape(c)
        , memory(driver)
        , x(normal_values(c.rows * c.stride(), 1.0f, random))
        , y(normal_values(c.rows * c.dim, 1.0f, random))
        , routed(normal_values(c.rows * c.count, 1.0f, random))
        , streams{{memory.put(x), c.stride()}, c.count, c.dim}
        , y_there(memory.put(y))
        , routed_there(memory.put(routed))
    {
    }
    float before(int r, int s, int i) const { return x[std::size_t(r * shape.stride() + s * shape.dim + i)]; }
    float of_y(int r, int i) const { return y[std::size_t(r * shape.dim + i)]; }
    const float* routes(int r) const { return &routed[std::size_t(r * shape.count)]; }
    /// Reads what the streams hold by now.
    void fetch() { after = memory.get<float>(streams.rows.at, x.size()); }
    double now(int r, int s, int i) const { return after[std::size_t(r * shape.stride() + s * shape.dim + i)]; }
    /// Says whether what lies between rows is as it was: it belongs to others.
    bool gaps_are_whole() const
    {
        for (int r = 0; r < shape.rows; ++r)
            for (int i = shape.count * shape.dim; i < shape.stride(); ++i)
                if (after[std::size_t(r * shape.stride() + i)] != x[std::size_t(r * shape.stride() + i)])
                    return false;
        return true;
    }

    const Driver& driver;
    std::mt19937& random;
    StreamCase shape;
    DeviceMemory memory;
    std::vector<float> x, y, routed, after;
    Streams streams;
    DevicePtr y_there, routed_there;
};

/// Worst runs a kernel on one case and gives the largest difference as a share of what is allowed.
template <double (*Worst)(OnDevice&)>
Checked of_all_cases(const Driver& driver, unsigned seed)
{
    std::mt19937 random(seed);
    Checked checked;
    for (const StreamCase& c : kStreamCases) {
        OnDevice on(driver, c, random);
        const double worst = Worst(on);
        note(checked, on.memory, worst, c.name());
    }
    return checked;
}

double worst_predict(OnDevice& on)
{
    const StreamCase& c = on.shape;
    const std::vector<float> coefficients = normal_values(c.count * c.count * c.count, 1.0f, on.random);
    const RoutedStreams by{{on.routed_there, c.count}, on.memory.put(coefficients)};
    on.memory.keep(predict_streams(on.driver, on.memory.queue(), by, c.rows, on.streams, {on.y_there, c.dim}));
    on.fetch();
    const auto active = on.memory.get<float>(on.y_there, on.y.size());
    double worst = on.gaps_are_whole() ? 0 : INFINITY;
    for (int r = 0; r < c.rows; ++r)
        for (int i = 0; i < c.dim; ++i) {
            for (int to = 0; to < c.count; ++to) {
                Summed expected;
                expected.add(double(on.before(r, to, i)));
                for (int from = 0; from < c.count; ++from) {
                    const Summed made = times_routed(coefficients, on.routes(r), to * c.count + from, c.count);
                    expected.sum += made.sum * double(on.before(r, from, i));
                    expected.size += made.size * std::abs(double(on.before(r, from, i)));
                }
                // A product and a sum each, in both sums.
                const double tolerance = 4.0 * (c.count + 1) * kHalfEpsilon * expected.size;
                worst = std::max(worst, share_of(tolerance, on.now(r, to, i), expected.sum));
            }
            worst = std::max(worst, share_of(0, double(active[std::size_t(r * c.dim + i)]), on.now(r, 0, i)));
        }
    return worst;
}

double worst_correct(OnDevice& on)
{
    const StreamCase& c = on.shape;
    const std::vector<float> coefficients = normal_values(c.count * c.count, 1.0f, on.random);
    const std::vector<float> weight = normal_values(c.dim, 1.0f, on.random);
    const RoutedStreams by{{on.routed_there, c.count}, on.memory.put(coefficients)};
    const DevicePtr first = on.memory.room(on.y.size() * sizeof(float));
    on.memory.keep(correct_streams(on.driver, on.memory.queue(), by, c.rows, {on.y_there, c.dim}, on.memory.put(weight),
                                   on.streams, {first, c.dim}));
    on.fetch();
    const auto firsts = on.memory.get<float>(first, on.y.size());
    double worst = on.gaps_are_whole() ? 0 : INFINITY;
    for (int r = 0; r < c.rows; ++r)
        for (int i = 0; i < c.dim; ++i) {
            const double y = double(on.of_y(r, i)), x0 = double(on.before(r, 0, i));
            for (int to = 0; to < c.count; ++to) {
                const Summed made = times_routed(coefficients, on.routes(r), to, c.count);
                const double expected = double(on.before(r, to, i)) + (y - x0) * (1 + made.sum);
                const double size =
                    std::abs(double(on.before(r, to, i))) + (std::abs(y) + std::abs(x0)) * (1 + made.size);
                worst =
                    std::max(worst, share_of((2.0 * c.count + 4) * kHalfEpsilon * size, on.now(r, to, i), expected));
            }
            const auto product = float(on.now(r, 0, i)) * weight[std::size_t(i)];
            worst = std::max(worst, share_of(0, double(firsts[std::size_t(r * c.dim + i)]), double(product)));
        }
    return worst;
}

double worst_add_to_streams(OnDevice& on)
{
    const StreamCase& c = on.shape;
    on.memory.keep(add_to_streams(on.driver, on.memory.queue(), {on.y_there, c.dim}, c.rows, on.streams));
    on.fetch();
    double worst = on.gaps_are_whole() ? 0 : INFINITY;
    for (int r = 0; r < c.rows; ++r)
        for (int s = 0; s < c.count; ++s)
            for (int i = 0; i < c.dim; ++i) {
                const float expected = s == 0 ? on.before(r, s, i) : on.before(r, s, i) + on.of_y(r, i);
                worst = std::max(worst, share_of(0, on.now(r, s, i), double(expected)));
            }
    return worst;
}

double worst_join(OnDevice& on)
{
    const StreamCase& c = on.shape;
    on.memory.keep(join_streams(on.driver, on.memory.queue(), on.streams, c.rows, {on.y_there, c.dim}));
    const auto actual = on.memory.get<float>(on.y_there, on.y.size());
    double worst = 0;
    for (int r = 0; r < c.rows; ++r) {
        std::array<double, kMostStreams> squares{};
        for (int s = 0; s < c.count; ++s)
            for (int i = 0; i < c.dim; ++i) {
                const double v = double(s == 0 ? on.of_y(r, i) : on.before(r, s, i));
                squares[std::size_t(s)] += v * v;
            }
        for (int i = 0; i < c.dim; ++i) {
            Summed expected;
            expected.add(double(on.of_y(r, i)));
            for (int s = 1; s < c.count; ++s)
                expected.add(std::sqrt(squares[0] / squares[std::size_t(s)]) * double(on.before(r, s, i)));
            // Two sums of squares, as those of norms; then the streams.
            const double roundings = (c.dim + 511) / 512 + 10 + 4 + c.count + 2;
            const double tolerance = roundings * kHalfEpsilon * expected.size / c.count;
            worst = std::max(worst,
                             share_of(tolerance, double(actual[std::size_t(r * c.dim + i)]), expected.sum / c.count));
        }
    }
    return worst;
}

double worst_take_columns(OnDevice& on)
{
    const StreamCase& c = on.shape;
    on.memory.keep(take_columns(on.driver, on.memory.queue(), on.streams.rows, c.rows, c.dim, {on.y_there, c.dim}));
    const auto actual = on.memory.get<float>(on.y_there, on.y.size());
    std::vector<float> expected;
    for (int r = 0; r < c.rows; ++r)
        for (int i = 0; i < c.dim; ++i)
            expected.push_back(on.before(r, 0, i));
    return share_of_same(actual, expected);
}

Checked check_keep_above(const Driver& driver, unsigned seed)
{
    constexpr double kDeviations = 1.5;
    std::mt19937 random(seed);
    Checked checked;
    for (const int n : {2, 31, 512, 1000, 4096}) {
        const int rows = 3, stride = n + 7;
        std::vector<float> x = normal_values(rows * stride, 1.0f, random);
        DeviceMemory on(driver);
        const DevicePtr at = on.put(x);
        on.keep(keep_above(driver, on.queue(), float(kDeviations), rows, n, {at, stride}));
        const auto actual = on.get<float>(at, x.size());
        double worst = 0;
        for (int r = 0; r < rows; ++r) {
            const float* row = &x[std::size_t(r * stride)];
            double mean = 0, squares = 0, largest = 0;
            for (int i = 0; i < n; ++i)
                mean += double(row[i]) / n;
            for (int i = 0; i < n; ++i)
                squares += (double(row[i]) - mean) * (double(row[i]) - mean) / (n - 1);
            for (int i = 0; i < n; ++i)
                largest = std::max(largest, std::abs(double(row[i])));
            const double least = mean + kDeviations * std::sqrt(squares);
            // As the mean and the deviation of a layer norm.
            const double tolerance = ((n + 511) / 512 + 16) * kHalfEpsilon * 2 * largest * (1 + kDeviations);
            for (int i = 0; i < stride; ++i) {
                const double here = double(actual[std::size_t(r * stride + i)]);
                const double expected = i < n ? std::max(double(row[i]) - least, 0.0) : double(row[i]);
                worst = std::max(worst, share_of(i < n ? tolerance : 0, here, expected));
            }
        }
        note(checked, on, worst, std::to_string(n) + " values");
    }
    return checked;
}

double sigmoid_of(double x)
{
    return 1 / (1 + std::exp(-x));
}

double worst_mean(OnDevice& on)
{
    const StreamCase& c = on.shape;
    on.memory.keep(mean_of_streams(on.driver, on.memory.queue(), on.streams, c.rows, {on.y_there, c.dim}));
    const auto actual = on.memory.get<float>(on.y_there, on.y.size());
    double worst = 0;
    for (int r = 0; r < c.rows; ++r)
        for (int i = 0; i < c.dim; ++i) {
            Summed expected;
            for (int s = 0; s < c.count; ++s)
                expected.add(double(on.before(r, s, i)) / c.count);
            const double tolerance = (c.count + 2) * kHalfEpsilon * expected.size;
            worst = std::max(worst, share_of(tolerance, double(actual[std::size_t(r * c.dim + i)]), expected.sum));
        }
    return worst;
}

double worst_inject(OnDevice& on)
{
    const StreamCase& c = on.shape;
    on.memory.keep(inject_into_streams(on.driver, on.memory.queue(), {on.routed_there, c.count}, {on.y_there, c.dim},
                                       c.rows, on.streams));
    on.fetch();
    double worst = on.gaps_are_whole() ? 0 : INFINITY;
    for (int r = 0; r < c.rows; ++r)
        for (int s = 0; s < c.count; ++s)
            for (int i = 0; i < c.dim; ++i) {
                const double added = 2 * sigmoid_of(double(on.routes(r)[s])) * double(on.of_y(r, i));
                const double before = double(on.before(r, s, i));
                // An exponential wrong by a few units in the last place, a quotient, a product, a sum.
                const double tolerance = 12 * kHalfEpsilon * (std::abs(added) + std::abs(before));
                worst = std::max(worst, share_of(tolerance, on.now(r, s, i), before + added));
            }
    return worst;
}

double worst_gate_ngrams(OnDevice& on)
{
    const StreamCase& c = on.shape;
    const std::vector<float> queries = normal_values(c.rows * c.count * c.dim, 1.0f, on.random);
    on.memory.keep(gate_ngrams(on.driver, on.memory.queue(), {on.memory.put(queries), c.count * c.dim},
                               {on.y_there, c.dim}, c.rows, on.streams));
    on.fetch();
    double worst = on.gaps_are_whole() ? 0 : INFINITY;
    for (int r = 0; r < c.rows; ++r)
        for (int s = 0; s < c.count; ++s) {
            Summed score;
            for (int i = 0; i < c.dim; ++i)
                score.add(double(on.before(r, s, i)) * double(queries[std::size_t((r * c.count + s) * c.dim + i)]) /
                          std::sqrt(double(c.dim)));
            const double root = std::sqrt(std::max(std::abs(score.sum), 1e-6));
            const double gate = sigmoid_of(std::copysign(root, score.sum));
            // The root of a score that is wrong by `wrong` is wrong by wrong / root at most; a sigmoid is no
            // steeper than a quarter.
            const double wrong = ((c.dim + 511) / 512 + 14) * kHalfEpsilon * score.size;
            const double tolerance = wrong / root / 4 + 12 * kHalfEpsilon * (1 + root);
            for (int i = 0; i < c.dim; ++i) {
                const double value = double(on.of_y(r, i));
                worst = std::max(worst, share_of(tolerance * std::abs(value), on.now(r, s, i), gate * value));
            }
        }
    return worst;
}

// Checks that the result is right however the rows are divided among launches.
Checked check_convolve_ngrams(const Driver& driver, unsigned seed)
{
    constexpr int kRows = 7, kChannels = 150;
    std::mt19937 random(seed);
    Checked checked;
    for (const int width : {1, 2, 10, kMostSpreadTaps}) {
        const std::vector<float> taps = normal_values(width * kChannels, 1.0f, random);
        const std::vector<float> past = normal_values((width - 1) * kChannels, 1.0f, random);
        const std::vector<float> x = normal_values(kRows * kChannels, 1.0f, random);
        std::vector<float> inputs = past;  // one after another
        inputs.insert(inputs.end(), x.begin(), x.end());
        for (const int first : {kRows, 2}) {
            DeviceMemory on(driver);
            const DevicePtr history = on.put(past), there = on.put(x);
            Convolution c{
                .channels = kChannels, .width = width, .taps = on.put(taps), .history = history, .rows = first};
            on.keep(convolve_ngrams(driver, on.queue(), c, {there, kChannels}));
            c.rows = kRows - first;
            if (c.rows > 0)
                on.keep(convolve_ngrams(driver, on.queue(), c,
                                        {there + std::size_t(first * kChannels) * sizeof(float), kChannels}));
            const auto actual = on.get<float>(there, x.size());
            double worst = share_of_same(on.get<float>(history, past.size()),
                                         std::vector<float>(inputs.end() - std::ptrdiff_t(past.size()), inputs.end()));
            for (int i = 0; i < kRows * kChannels; ++i) {
                Summed y;
                for (int j = 0; j < width; ++j)
                    y.add(double(taps[std::size_t(j * kChannels + i % kChannels)]) *
                          double(inputs[std::size_t(j * kChannels + i)]));
                // silu is nowhere steeper than 1.1.
                const double tolerance = 1.1 * (2 * width + 12) * kHalfEpsilon * y.size;
                worst = std::max(worst, share_of(tolerance, double(actual[std::size_t(i)]), y.sum * sigmoid_of(y.sum)));
            }
            note(checked, on, worst, std::to_string(width) + " taps");
        }
    }
    return checked;
}

}  // namespace

void add_stream_checks(std::vector<KernelCheck>& checks)
{
    checks.push_back({"prediction of streams", of_all_cases<worst_predict>});
    checks.push_back({"correction of streams", of_all_cases<worst_correct>});
    checks.push_back({"sum of streams", of_all_cases<worst_add_to_streams>});
    checks.push_back({"join of streams", of_all_cases<worst_join>});
    checks.push_back({"columns of rows", of_all_cases<worst_take_columns>});
    checks.push_back({"mean of streams", of_all_cases<worst_mean>});
    checks.push_back({"shares of streams", of_all_cases<worst_inject>});
    checks.push_back({"gates of n-grams", of_all_cases<worst_gate_ngrams>});
    checks.push_back({"convolution of n-grams", check_convolve_ngrams});
    checks.push_back({"gates far above their mean", check_keep_above});
}

}  // namespace kernels::cuda
