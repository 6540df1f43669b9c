#include "kernels/cuda/streams.h"
#include "kernels/cuda/ops.h"

namespace kernels::cuda {

// Threads of a block in kernels that compute each value of a row by itself.
static constexpr unsigned kThreadsOfStreams = 256;

static Dim grid_of_streams(int rows, int dim)
{
    return {(unsigned(dim) + kThreadsOfStreams - 1) / kThreadsOfStreams, unsigned(rows)};
}

static bool can_do(const Streams& streams)
{
    return streams.count >= 1 && streams.count <= kMostStreams;
}

static StreamRows arguments_of(const Streams& s)
{
    return {reinterpret_cast<float*>(s.rows.at), s.rows.stride, s.count, s.dim};
}

static RoutedArguments arguments_of(const RoutedStreams& by)
{
    return {reinterpret_cast<const float*>(by.routed.at), by.routed.stride,
            reinterpret_cast<const float*>(by.coefficients)};
}

Status predict_streams(const Driver& driver, Queue queue, const RoutedStreams& by, int rows, const Streams& streams,
                       Rows active)
{
    if (!can_do(streams))
        return Status::InvalidValue;
    return driver.launch(Kernel::predict_streams, grid_of_streams(rows, streams.dim), {kThreadsOfStreams}, 0, queue,
                         arguments_of(by), arguments_of(streams), active.at, active.stride);
}

Status correct_streams(const Driver& driver, Queue queue, const RoutedStreams& by, int rows, Rows active,
                       DevicePtr weight, const Streams& streams, Rows first)
{
    if (!can_do(streams))
        return Status::InvalidValue;
    return driver.launch(Kernel::correct_streams, grid_of_streams(rows, streams.dim), {kThreadsOfStreams}, 0, queue,
                         arguments_of(by), active.at, active.stride, weight, arguments_of(streams), first.at,
                         first.stride);
}

Status add_to_streams(const Driver& driver, Queue queue, Rows y, int rows, const Streams& streams)
{
    return driver.launch(Kernel::add_to_streams, grid_of_streams(rows, streams.dim), {kThreadsOfStreams}, 0, queue,
                         y.at, y.stride, arguments_of(streams));
}

Status join_streams(const Driver& driver, Queue queue, const Streams& streams, int rows, Rows first)
{
    constexpr unsigned kThreads = 512;
    if (!can_do(streams))
        return Status::InvalidValue;
    return driver.launch(Kernel::join_streams, {unsigned(rows)}, {kThreads}, 0, queue, arguments_of(streams), first.at,
                         first.stride);
}

Status mean_of_streams(const Driver& driver, Queue queue, const Streams& streams, int rows, Rows out)
{
    return driver.launch(Kernel::mean_of_streams, grid_of_streams(rows, streams.dim), {kThreadsOfStreams}, 0, queue,
                         arguments_of(streams), out.at, out.stride);
}

Status inject_into_streams(const Driver& driver, Queue queue, Rows shares, Rows y, int rows, const Streams& streams)
{
    return driver.launch(Kernel::inject_into_streams, grid_of_streams(rows, streams.dim), {kThreadsOfStreams}, 0, queue,
                         shares.at, shares.stride, y.at, y.stride, arguments_of(streams));
}

Status gate_ngrams(const Driver& driver, Queue queue, Rows queries, Rows values, int rows, const Streams& keys)
{
    constexpr unsigned kThreads = 512;
    return driver.launch(Kernel::gate_ngrams, {unsigned(keys.count), unsigned(rows)}, {kThreads}, 0, queue, queries.at,
                         queries.stride, values.at, values.stride, arguments_of(keys));
}

Status convolve_ngrams(const Driver& driver, Queue queue, const Convolution& c, Rows x)
{
    constexpr unsigned kThreads = 128;
    if (c.width < 1 || c.width > kMostSpreadTaps || c.bias != 0)
        return Status::InvalidValue;
    return driver.launch(Kernel::convolve_ngrams, {(unsigned(c.channels) + kThreads - 1) / kThreads}, {kThreads}, 0,
                         queue, c.taps, c.width, c.history, c.channels, c.rows, x.at, x.stride);
}

}  // namespace kernels::cuda
