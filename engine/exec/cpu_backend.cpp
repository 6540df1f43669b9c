#include "engine/exec/cpu_backend.h"

#include "engine/exec/sigmoid.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace engine {

namespace {

// Rows of a batch from which on an elementwise operation is worth waking the workers.
constexpr int kRowsWorthSharing = 4;

}  // namespace

CpuBackend::CpuBackend(const Hyperparameters& h, int max_rows, int block_tokens, int threads, bool pinned)
    : h_(h)
    , kernels_(kernels::cpu_kernels())
    , max_rows_(max_rows)
    , block_tokens_(block_tokens)
    , pinned_(pinned)
    , pool_(std::make_unique<ThreadPool>(threads, pinned))
    , attention_(h, max_rows, block_tokens, *pool_)
    , products_(h, *pool_)
    , recurrent_(*pool_)
    , streams_(*pool_)
{
    if (h.experts > 0)
        experts_ = std::make_unique<CpuExperts>(h, max_rows, products_, *pool_);
}

void CpuBackend::set_threads(int threads)
{
    auto pool = std::make_unique<ThreadPool>(threads, pinned_);
    auto attention = attention_.scratch_for(pool->size());
    auto products = products_.scratch_for(pool->size());
    attention_.use(*pool, std::move(attention));
    products_.use(*pool, std::move(products));
    recurrent_.use(*pool);
    streams_.use(*pool);
    if (experts_)
        experts_->use(*pool);
    pool_ = std::move(pool);
}

std::size_t CpuBackend::scratch_bytes() const
{
    return (experts_ ? experts_->bytes() : 0) +
           worker_bytes(h_, max_rows_, block_tokens_, threads(), attention_.allows_runs());
}

std::size_t CpuBackend::worker_bytes(const Hyperparameters& h, int max_rows, int block_tokens, int threads, bool runs)
{
    return CpuAttention::scratch_bytes(h, max_rows, block_tokens, threads, runs) +
           CpuProducts::scratch_bytes(h, threads);
}

void CpuBackend::embed(const Matrix& table, std::span<const int> ids, float scale, Rows& out, int each)
{
    out.set_shape(int(ids.size()) / each, each * table.n);
    const std::size_t row_bytes = kernels::row_bytes(table.type, table.n);
    pool_->for_each(int(ids.size()), kRowsWorthSharing, [&](int begin, int end, int) {
        for (int t = begin; t < end; ++t) {
            float* row = out.row(t / each) + t % each * table.n;
            kernels_.dequantize(table.type, table.n, table.data + std::size_t(ids[std::size_t(t)]) * row_bytes, row);
            if (scale != 1.0f)
                for (int i = 0; i < table.n; ++i)
                    row[i] *= scale;
        }
    });
}

void CpuBackend::rms_norm(Rows& x, Vector weight, float epsilon, Rows& out)
{
    out.set_shape(x.count(), x.cols());
    pool_->for_each(x.count(), kRowsWorthSharing, [&](int begin, int end, int) {
        for (int t = begin; t < end; ++t)
            kernels_.rms_norm(x.cols(), x.row(t), weight, epsilon, out.row(t));
    });
}

void CpuBackend::layer_norm(Rows& x, Vector weight, float epsilon, Rows& out)
{
    out.set_shape(x.count(), x.cols());
    pool_->for_each(x.count(), kRowsWorthSharing, [&](int begin, int end, int) {
        for (int t = begin; t < end; ++t)
            kernels_.layer_norm(x.cols(), x.row(t), weight, epsilon, out.row(t));
    });
}

void CpuBackend::norm_heads(Rows& x, const HeadColumns& from, Vector weight, float epsilon, int to)
{
    x.changed();
    pool_->for_each(x.count(), kRowsWorthSharing, [&](int begin, int end, int) {
        for (int t = begin; t < end; ++t)
            for (int head = 0; head < from.heads; ++head)
                kernels_.rms_norm(from.length, x.row(t) + from.col + head * from.stride, weight, epsilon,
                                  x.row(t) + to + head * from.length);
    });
}

void CpuBackend::layer_norm_heads(Rows& x, const HeadColumns& at, Vector weights, float epsilon)
{
    x.changed();
    pool_->for_each(x.count(), kRowsWorthSharing, [&](int begin, int end, int) {
        for (int t = begin; t < end; ++t)
            for (int head = 0; head < at.heads; ++head) {
                float* values = x.row(t) + at.col + head * at.stride;
                kernels_.layer_norm(at.length, values, weights + head * at.length, epsilon, values);
            }
    });
}

void CpuBackend::gate_heads(const Rows& gates, const HeadColumns& at, Rows& x)
{
    x.changed();
    pool_->for_each(x.count(), kRowsWorthSharing, [&](int begin, int end, int) {
        for (int t = begin; t < end; ++t)
            for (int head = 0; head < at.heads; ++head) {
                float* values = x.row(t) + head * at.length;
                kernels_.sigmoid_mul(at.length, gates.row(t) + at.col + head * at.stride, values, values);
            }
    });
}

void CpuBackend::weigh_rows(const Rows& weights, Rows& x)
{
    x.changed();
    pool_->for_each(x.count(), kRowsWorthSharing, [&](int begin, int end, int) {
        for (int t = begin; t < end; ++t) {
            const float weight = sigmoid(*weights.row(t));
            for (int i = 0; i < x.cols(); ++i)
                x.row(t)[i] *= weight;
        }
    });
}

void CpuBackend::rope_heads(Rows& x, int col, int heads, int length, const Rotation& rotation)
{
    x.changed();
    pool_->for_each(x.count(), kRowsWorthSharing, [&](int begin, int end, int) {
        for (int t = begin; t < end; ++t)
            for (int head = 0; head < heads; ++head)
                kernels_.rope(rotation.neox, 2 * rotation.pairs, rotation.cos + std::size_t(t) * rotation.pairs,
                              rotation.sin + std::size_t(t) * rotation.pairs, x.row(t) + col + head * length);
    });
}

void CpuBackend::keep_above(float deviations, int n, Rows& x)
{
    x.changed();
    pool_->for_each(x.count(), kRowsWorthSharing, [&](int begin, int end, int) {
        for (int t = begin; t < end; ++t) {
            float* values = x.row(t);
            double sum = 0.0, squares = 0.0;
            for (int i = 0; i < n; ++i)
                sum += double(values[i]);
            const double mean = sum / n;
            for (int i = 0; i < n; ++i)
                squares += (double(values[i]) - mean) * (double(values[i]) - mean);
            const float least = float(mean + double(deviations) * std::sqrt(squares / std::max(1, n - 1)));
            for (int i = 0; i < n; ++i)
                values[i] = std::max(values[i] - least, 0.0f);
        }
    });
}

void CpuBackend::copy_heads(const Rows& x, const HeadColumns& from, Rows& out, const HeadColumns& to)
{
    out.changed();
    pool_->for_each(x.count(), kRowsWorthSharing, [&](int begin, int end, int) {
        for (int t = begin; t < end; ++t)
            for (int head = 0; head < from.heads; ++head)
                std::copy_n(x.row(t) + from.col + head * from.stride, from.length,
                            out.row(t) + to.col + head * to.stride);
    });
}

void CpuBackend::add(const Rows& y, Rows& x)
{
    x.changed();
    pool_->for_each(x.count(), kRowsWorthSharing, [&](int begin, int end, int) {
        for (int t = begin; t < end; ++t)
            kernels_.add(x.cols(), y.row(t), x.row(t));
    });
}

void CpuBackend::scale(float factor, Rows& x)
{
    x.changed();
    pool_->for_each(x.count(), kRowsWorthSharing, [&](int begin, int end, int) {
        for (int t = begin; t < end; ++t)
            std::for_each_n(x.row(t), x.cols(), [&](float& value) { value *= factor; });
    });
}

void CpuBackend::copy_row(const Rows& from, int row, Rows& to)
{
    to.set_shape(1, from.cols());
    std::copy_n(from.row(row), from.cols(), to.row(0));
}

void CpuBackend::copy(const float* from, float* to, std::size_t count)
{
    constexpr std::size_t kPiece = 1 << 14;
    const std::size_t pieces = (count + kPiece - 1) / kPiece;
    pool_->for_each(int(pieces), ThreadPool::sharing_pays(std::int64_t(count)) ? 1 : int(pieces),
                    [&](int begin, int end, int) {
                        const std::size_t first = std::size_t(begin) * kPiece;
                        std::copy_n(from + first, std::min(std::size_t(end) * kPiece, count) - first, to + first);
                    });
}

void CpuBackend::soft_cap(float cap, Rows& x)
{
    x.changed();
    pool_->for_each(x.count(), 1, [&](int begin, int end, int) {
        for (int t = begin; t < end; ++t)
            for (int i = 0; i < x.cols(); ++i)
                x.row(t)[i] = cap * std::tanh(x.row(t)[i] / cap);
    });
}

}  // namespace engine
