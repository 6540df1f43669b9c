#include "engine/plan/measure_decoding.h"

#include "engine/exec/cuda_address.h"
#include "engine/exec/cuda_memory.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace engine {

namespace cuda = kernels::cuda;
using CudaStatus = cuda::Status;

namespace {

/// Gives out what is left of a piece of memory.
class Pieces
{
public:
    Pieces(DevicePtr begin, std::size_t bytes)
        : next_(begin)
        , left_(bytes)
    {
    }
    /// Returns the next piece. 0: there is no more.
    cuda::DevicePtr take(std::size_t bytes)
    {
        bytes = cuda_aligned(bytes);
        if (bytes > left_)
            return 0;
        left_ -= bytes;
        return cuda_address(std::exchange(next_, next_ + bytes));
    }
    std::size_t left() const { return left_; }

private:
    DevicePtr next_;
    std::size_t left_;
};

cuda::Product product_of(const WeightRead& read, cuda::DevicePtr weights, cuda::DevicePtr x, cuda::DevicePtr out)
{
    const int rows = int(read.bytes / std::int64_t(kernels::row_bytes(read.type, read.row_length)));
    const auto form = kernels::activation_of(read.type);
    return {.type = read.type,
            .n = read.row_length,
            .rows = rows,
            .weights = weights,
            .tokens = 1,
            .x = x,
            .x_stride = kernels::activation_row_bytes(form, read.row_length),
            .out = {out, rows}};
}

}  // namespace

Result<double> measure_weights_bytes_per_s(const DeviceMeter& meter, std::span<const WeightRead> layer)
{
    Pieces pieces(meter.memory(), meter.bytes());
    std::size_t weights = 0, longest = 0, most_rows = 0;
    for (const WeightRead& read : layer) {
        weights += cuda_aligned(std::size_t(read.bytes));
        longest = std::max(longest, kernels::activation_row_bytes(kernels::activation_of(read.type), read.row_length));
        most_rows = std::max(most_rows, std::size_t(read.bytes) / kernels::row_bytes(read.type, read.row_length));
    }
    const cuda::DevicePtr x = pieces.take(longest), out = pieces.take(most_rows * sizeof(float));
    // As many layers as find room, one after another: each is out of the cache when it is read again.
    std::vector<cuda::Product> products;
    double bytes = 0;
    while (x && out && weights <= pieces.left())
        for (const WeightRead& read : layer) {
            products.push_back(product_of(read, pieces.take(std::size_t(read.bytes)), x, out));
            bytes += double(read.bytes);
        }
    if (products.empty())
        return meter.too_small();
    auto time = meter.seconds([&] {
        for (const cuda::Product& product : products)
            if (const CudaStatus status = cuda::matvec(meter.device().driver(), meter.device().compute(), product);
                status != CudaStatus::Ok)
                return status;
        return CudaStatus::Ok;
    });
    if (!time)
        return time;
    return bytes / *time;
}

namespace {

/// Attends with one token over KV in the meter's memory.
class AttendedToken
{
public:
    /// Takes half of what is left of the memory at most, so that partials find room beside the blocks. DeviceFull,
    /// DeviceLost.
    static Result<AttendedToken> make(const DeviceMeter& meter, Pieces& pieces, const KvForm& form, int kv_heads,
                                      int tokens)
    {
        const kernels::KvBlockLayout layout{kernel_type(form.k_type), kernel_type(form.v_type), form.head_length,
                                            form.head_length, form.block_tokens};
        const int heads = kv_heads * form.group;
        const std::size_t column = cuda_aligned(std::size_t(kv_heads) * layout.bytes());
        const int blocks =
            std::min((tokens + form.block_tokens - 1) / form.block_tokens, int(pieces.left() / 2 / column));
        if (blocks < 1)
            return meter.too_small();
        const cuda::PartialsLayout partials(1, blocks + 1, layout.tokens, heads, layout.v_dim);
        std::vector<std::uint64_t> table(std::size_t(blocks) + 1, 0);
        for (int b = 0; b < blocks; ++b)
            table[std::size_t(b)] = pieces.take(column);
        const int first = blocks * form.block_tokens - 1;
        const cuda::DevicePtr table_at = pieces.take(table.size() * sizeof(std::uint64_t)), first_at = pieces.take(4);
        const cuda::DevicePtr q = pieces.take(std::size_t(heads * form.head_length) * sizeof(float));
        const cuda::DevicePtr q_scale = pieces.take(sizeof(float));
        const cuda::Rows out{pieces.take(std::size_t(heads * layout.v_dim) * sizeof(float)), heads * layout.v_dim};
        const cuda::DevicePtr partials_at = pieces.take(partials.bytes);
        const std::size_t counter_bytes = std::size_t(heads) * sizeof(unsigned);
        const cuda::DevicePtr counters = pieces.take(counter_bytes);
        if (!table_at || !first_at || !q || !q_scale || !out.at || !partials_at || !counters)
            return meter.too_small();

        const cuda::Driver& driver = meter.device().driver();
        const cuda::Queue queue = meter.device().compute();
        CudaStatus sent = driver.copy_to_device(table_at, table.data(), table.size() * sizeof(std::uint64_t), queue);
        if (sent == CudaStatus::Ok)
            sent = driver.copy_to_device(first_at, &first, sizeof first, queue);
        if (sent == CudaStatus::Ok)
            sent = driver.fill(counters, 0, counter_bytes, queue);
        if (sent == CudaStatus::Ok)
            sent = driver.synchronize(queue);
        if (const Status ok = meter.device().checked(sent); !ok)
            return tl::unexpected(ok.error());
        AttendedToken token;
        token.attention_ = {.kv = {layout, kv_heads, table_at},
                            .group = form.group,
                            .first = first_at,
                            .q = {q, heads * form.head_length},
                            .q_scale = q_scale,
                            .max_blocks = blocks + 1,
                            .partials = partials_at};
        token.out_ = out;
        token.counters_ = counters;
        token.bytes_ = double(blocks) * double(kv_heads) * double(layout.bytes());
        return token;
    }

    CudaStatus attend(const DeviceMeter& meter) const
    {
        const cuda::Driver& driver = meter.device().driver();
        const cuda::Queue queue = meter.device().compute();
        if (cuda::merges_fast_at_end(attention_))
            return cuda::attend_and_merge(driver, queue, attention_, 0, out_, {}, counters_);
        const CudaStatus status = cuda::attend_blocks(driver, queue, attention_);
        return status == CudaStatus::Ok ? cuda::merge_partials(driver, queue, attention_, 0, 0, out_) : status;
    }
    double bytes() const { return bytes_; }

private:
    cuda::Attention attention_;
    cuda::Rows out_;
    cuda::DevicePtr counters_ = 0;
    double bytes_ = 0;
};

}  // namespace

Result<double> measure_attention_bytes_per_s(const DeviceMeter& meter, const KvForm& form, int kv_heads, int tokens)
{
    Pieces pieces(meter.memory(), meter.bytes());
    const auto token = AttendedToken::make(meter, pieces, form, kv_heads, tokens);
    if (!token)
        return tl::unexpected(token.error());
    auto time = meter.seconds([&] { return token->attend(meter); });
    if (!time)
        return time;
    return token->bytes() / *time;
}

Result<double> measure_small_kernels_s(const DeviceMeter& meter, const KvForm& form, int kv_heads, int row_length)
{
    constexpr int kLayers = 16;
    constexpr float kEpsilon = 1e-5f;
    Pieces pieces(meter.memory(), meter.bytes());
    const auto token = AttendedToken::make(meter, pieces, form, kv_heads, 1);
    if (!token)
        return tl::unexpected(token.error());
    const cuda::Rows row{pieces.take(std::size_t(row_length) * sizeof(float)), row_length};
    const cuda::DevicePtr weight = pieces.take(std::size_t(row_length) * sizeof(float));
    const std::size_t rounded_bytes = kernels::activation_row_bytes(kernels::Activation::Q8, row_length);
    const cuda::Q8Rows rounded{pieces.take(rounded_bytes), rounded_bytes};
    if (!row.at || !weight || !rounded.at)
        return meter.too_small();
    const cuda::Driver& driver = meter.device().driver();
    const cuda::Queue queue = meter.device().compute();
    const auto norm = [&] { return cuda::rms_norm(driver, queue, row, weight, kEpsilon, 1, row_length, row); };
    // A third norm stands for what prepares the heads.
    const std::function<CudaStatus()> layer[] = {
        norm, norm, [&] { return token->attend(meter); }, norm,
        [&] { return cuda::quantize_q8(driver, queue, row, 1, row_length, rounded); }};
    CudaStatus failed = driver.begin_capture(queue);
    if (failed != CudaStatus::Ok)
        return tl::unexpected(meter.device().checked(failed).error());
    for (int l = 0; l < kLayers; ++l)
        for (const auto& kernel : layer)
            failed = failed == CudaStatus::Ok ? kernel() : failed;
    const auto graph = driver.end_capture(queue);
    failed = failed == CudaStatus::Ok ? graph.status : failed;
    if (failed != CudaStatus::Ok) {
        if (graph.value)
            (void)driver.destroy(graph.value);
        return tl::unexpected(meter.device().checked(failed).error());
    }
    auto time = meter.seconds([&] { return driver.launch(graph.value, queue); });
    (void)driver.synchronize(queue);
    (void)driver.destroy(graph.value);
    if (!time)
        return time;
    return *time / kLayers;
}

}  // namespace engine
