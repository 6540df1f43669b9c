#include "engine/exec/cpu_streams.h"

#include "engine/exec/sigmoid.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace engine {

namespace {

// From this many rows on, it is worth waking the workers.
constexpr int kStreamRowsWorthSharing = 4;

// One worker takes this many channels of a convolution through all rows.
constexpr int kChannelsOfStreams = 256;

/// Returns (count,): coefficients, (count, streams), times routed, (streams,).
template <std::size_t Most>
std::array<float, Most> times_routed(Vector coefficients, int count, std::span<const float> routed)
{
    std::array<float, Most> out{};
    for (int i = 0; i < count; ++i)
        for (const float r : routed)
            out[std::size_t(i)] += *coefficients++ * r;
    return out;
}

double squares(const float* x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; ++i)
        sum += double(x[i]) * double(x[i]);
    return sum;
}

/// Returns the factor that gives x the length of `like`, both (n,).
float to_length_of(const float* like, const float* x, int n)
{
    const double here = squares(x, n);
    return here > 0.0 ? float(std::sqrt(squares(like, n) / here)) : 1.0f;
}

}  // namespace

template <class Work>
void CpuStreams::for_each_row(const Rows& rows, const Work& work) const
{
    pool_->for_each(rows.count(), kStreamRowsWorthSharing, [&](int begin, int end, int) {
        for (int t = begin; t < end; ++t)
            work(t);
    });
}

void CpuStreams::take(const Rows& streams, int row, int s, int dim, Rows& out)
{
    out.set_shape(1, dim);
    std::copy_n(streams.row(row) + s * dim, dim, out.row(0));
}

void CpuStreams::take_first(const Rows& streams, int dim, Rows& out)
{
    out.set_shape(streams.count(), dim);
    for_each_row(streams, [&](int t) { std::copy_n(streams.row(t), dim, out.row(t)); });
}

void CpuStreams::predict(const Rows& routed, Vector coefficients, Rows& streams, Rows& active)
{
    const int count = routed.cols(), dim = streams.cols() / count;
    active.set_shape(streams.count(), dim);
    streams.changed();
    for_each_row(streams, [&](int t) {
        const auto c =
            times_routed<kMostStreams * kMostStreams>(coefficients, count * count, {routed.row(t), std::size_t(count)});
        float* x = streams.row(t);
        std::array<float, kMostStreams> before{};
        for (int i = 0; i < dim; ++i) {
            for (int s = 0; s < count; ++s)
                before[std::size_t(s)] = x[s * dim + i];
            for (int to = 0; to < count; ++to) {
                float sum = before[std::size_t(to)];
                for (int from = 0; from < count; ++from)
                    sum += c[std::size_t(to * count + from)] * before[std::size_t(from)];
                x[to * dim + i] = sum;
            }
            active.row(t)[i] = x[i];
        }
    });
}

void CpuStreams::correct(const Rows& routed, Vector coefficients, const Rows& active, Vector weight, Rows& streams,
                         Rows& first)
{
    const int count = routed.cols(), dim = active.cols();
    first.set_shape(streams.count(), dim);
    streams.changed();
    for_each_row(streams, [&](int t) {
        const auto c = times_routed<kMostStreams>(coefficients, count, {routed.row(t), std::size_t(count)});
        float* x = streams.row(t);
        for (int i = 0; i < dim; ++i) {
            const float change = active.row(t)[i] - x[i];
            for (int to = 0; to < count; ++to)
                x[to * dim + i] += change * (1.0f + c[std::size_t(to)]);
            first.row(t)[i] = x[i] * weight[i];
        }
    });
}

void CpuStreams::add_to_others(const Rows& y, Rows& streams)
{
    streams.changed();
    for_each_row(streams, [&](int t) {
        for (int col = y.cols(); col < streams.cols(); col += y.cols())
            kernels_.add(y.cols(), y.row(t), streams.row(t) + col);
    });
}

void CpuStreams::even_out(const Rows& x, Rows& streams)
{
    streams.changed();
    for_each_row(x, [&](int t) {
        std::copy_n(x.row(t), x.cols(), streams.row(t));
        for (int col = x.cols(); col < streams.cols(); col += x.cols()) {
            float* stream = streams.row(t) + col;
            const float factor = to_length_of(x.row(t), stream, x.cols());
            std::for_each_n(stream, x.cols(), [&](float& value) { value *= factor; });
        }
    });
}

void CpuStreams::join(const Rows& streams, Rows& first)
{
    first.changed();
    for_each_row(first, [&](int t) {
        const int dim = first.cols(), count = streams.cols() / dim;
        float* sum = first.row(t);
        std::array<float, kMostStreams> factors{};
        for (int s = 1; s < count; ++s)
            factors[std::size_t(s)] = to_length_of(sum, streams.row(t) + s * dim, dim);
        for (int i = 0; i < dim; ++i) {
            for (int s = 1; s < count; ++s)
                sum[i] += factors[std::size_t(s)] * streams.row(t)[s * dim + i];
            sum[i] /= float(count);
        }
    });
}

void CpuStreams::repeat(const Rows& x, int count, Rows& streams)
{
    streams.set_shape(x.count(), count * x.cols());
    for_each_row(x, [&](int t) {
        for (int s = 0; s < count; ++s)
            std::copy_n(x.row(t), x.cols(), streams.row(t) + s * x.cols());
    });
}

void CpuStreams::norm(Rows& x, int dim, Vector weight, float epsilon, Rows& out)
{
    out.set_shape(x.count(), x.cols());
    for_each_row(x, [&](int t) {
        for (int col = 0; col < x.cols(); col += dim)
            kernels_.rms_norm(dim, x.row(t) + col, weight + col, epsilon, out.row(t) + col);
    });
}

void CpuStreams::mean(const Rows& streams, int dim, Rows& out)
{
    out.set_shape(streams.count(), dim);
    for_each_row(streams, [&](int t) {
        std::copy_n(streams.row(t), dim, out.row(t));
        for (int col = dim; col < streams.cols(); col += dim)
            kernels_.add(dim, streams.row(t) + col, out.row(t));
        const float share = float(dim) / float(streams.cols());
        std::for_each_n(out.row(t), dim, [&](float& value) { value *= share; });
    });
}

void CpuStreams::inject(const Rows& shares, const Rows& y, Rows& streams)
{
    streams.changed();
    for_each_row(streams, [&](int t) {
        for (int s = 0; s < shares.cols(); ++s) {
            const float share = 2.0f * sigmoid(shares.row(t)[s]);
            float* x = streams.row(t) + s * y.cols();
            for (int i = 0; i < y.cols(); ++i)
                x[i] += share * y.row(t)[i];
        }
    });
}

void CpuStreams::gate_ngrams(const Rows& queries, const Rows& values, Rows& keys)
{
    constexpr double kLeast = 1e-6;
    const int dim = values.cols();
    keys.changed();
    for_each_row(keys, [&](int t) {
        for (int col = 0; col < keys.cols(); col += dim) {
            float* key = keys.row(t) + col;
            double score = 0.0;
            for (int i = 0; i < dim; ++i)
                score += double(key[i]) * double(queries.row(t)[col + i]);
            score /= std::sqrt(double(dim));
            const double root = std::sqrt(std::max(std::abs(score), kLeast));
            const float gate = sigmoid(float(std::copysign(root, score)));
            for (int i = 0; i < dim; ++i)
                key[i] = gate * values.row(t)[i];
        }
    });
}

void CpuStreams::convolve(Vector taps, int width, float* history, RowRange of, Rows& x)
{
    const RowRange rows = of.of(x.count());
    const int channels = x.cols(), items = (channels + kChannelsOfStreams - 1) / kChannelsOfStreams;
    const auto stride = std::size_t(channels);
    x.changed();
    pool_->for_each(items, 1, [&](int begin, int end, int) {
        for (int item = begin; item < end; ++item) {
            const int first = item * kChannelsOfStreams;
            kernels_.short_convolution({.channels = std::min(kChannelsOfStreams, channels - first),
                                        .width = width,
                                        .taps = taps + first,
                                        .history = history + first,
                                        .tap_stride = stride,
                                        .history_stride = stride,
                                        .tokens = rows.count,
                                        .x = x.row(rows.first) + first,
                                        .x_stride = stride,
                                        .silu = true});
        }
    });
}

}  // namespace engine
