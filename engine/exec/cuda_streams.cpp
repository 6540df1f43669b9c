#include "engine/exec/cuda_streams.h"

#include "engine/exec/cuda_address.h"
#include "kernels/cuda/streams.h"

#include <string>

namespace engine {

namespace cuda = kernels::cuda;

static_assert(kMostStreams == cuda::kMostStreams);

static cuda::Streams cuda_streams(const Rows& streams, int dim)
{
    return {cuda_rows(streams), streams.cols() / dim, dim};
}

Status CudaStreams::supports(const NgramParameters& ngrams)
{
    if (ngrams.longest > 0 && ngrams.spread_taps() > cuda::kMostSpreadTaps)
        return fail(Error::Code::Unsupported, "embeddings of n-grams whose convolution reaches back " +
                                                  std::to_string(ngrams.spread_taps() - 1) +
                                                  " tokens are computed on the cpu only");
    return {};
}

void CudaStreams::take(const Rows& streams, int row, int s, int dim, Rows& out)
{
    out.set_shape(1, dim);
    const std::size_t bytes = std::size_t(dim) * sizeof(float);
    calls_.run([&] {
        return calls_.driver().copy_on_device(cuda_address(out.row(0)), cuda_address(streams.row(row) + s * dim), bytes,
                                              calls_.queue());
    });
}

void CudaStreams::take_first(const Rows& streams, int dim, Rows& out)
{
    out.set_shape(streams.count(), dim);
    calls_.launch(cuda::take_columns, cuda_rows(streams), streams.count(), dim, cuda_rows(out));
}

void CudaStreams::predict(const Rows& routed, Vector coefficients, Rows& streams, Rows& active)
{
    const int dim = streams.cols() / routed.cols();
    active.set_shape(streams.count(), dim);
    streams.changed();
    calls_.launch(cuda::predict_streams, cuda::RoutedStreams{cuda_rows(routed), cuda_address(coefficients)},
                  streams.count(), cuda_streams(streams, dim), cuda_rows(active));
}

void CudaStreams::correct(const Rows& routed, Vector coefficients, const Rows& active, Vector weight, Rows& streams,
                          Rows& first)
{
    first.set_shape(streams.count(), active.cols());
    streams.changed();
    calls_.launch(cuda::correct_streams, cuda::RoutedStreams{cuda_rows(routed), cuda_address(coefficients)},
                  streams.count(), cuda_rows(active), cuda_address(weight), cuda_streams(streams, active.cols()),
                  cuda_rows(first));
}

void CudaStreams::add_to_others(const Rows& y, Rows& streams)
{
    streams.changed();
    calls_.launch(cuda::add_to_streams, cuda_rows(y), streams.count(), cuda_streams(streams, y.cols()));
}

void CudaStreams::join(const Rows& streams, Rows& first)
{
    first.changed();
    calls_.launch(cuda::join_streams, cuda_streams(streams, first.cols()), first.count(), cuda_rows(first));
}

void CudaStreams::norm(Rows& x, int dim, Vector weight, float epsilon, Rows& out)
{
    out.set_shape(x.count(), x.cols());
    for (int col = 0; col < x.cols(); col += dim)
        calls_.launch(cuda::rms_norm, cuda_rows(x, col), cuda_address(weight + col), epsilon, x.count(), dim,
                      cuda_rows(out, col), cuda::Rounded());
}

void CudaStreams::mean(const Rows& streams, int dim, Rows& out)
{
    out.set_shape(streams.count(), dim);
    calls_.launch(cuda::mean_of_streams, cuda_streams(streams, dim), streams.count(), cuda_rows(out));
}

void CudaStreams::inject(const Rows& shares, const Rows& y, Rows& streams)
{
    streams.changed();
    calls_.launch(cuda::inject_into_streams, cuda_rows(shares), cuda_rows(y), streams.count(),
                  cuda_streams(streams, y.cols()));
}

void CudaStreams::gate_ngrams(const Rows& queries, const Rows& values, Rows& keys)
{
    keys.changed();
    calls_.launch(cuda::gate_ngrams, cuda_rows(queries), cuda_rows(values), keys.count(),
                  cuda_streams(keys, values.cols()));
}

void CudaStreams::convolve(Vector taps, int width, float* history, RowRange /*of*/, Rows& x)
{
    x.changed();
    const cuda::Convolution convolution{.channels = x.cols(),
                                        .width = width,
                                        .taps = cuda_address(taps),
                                        .history = cuda_address(history),
                                        .rows = x.count()};
    calls_.launch(cuda::convolve_ngrams, convolution, cuda_rows(x));
}

}  // namespace engine
