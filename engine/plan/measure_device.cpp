#include "engine/plan/measure_device.h"

#include "engine/exec/cuda_address.h"
#include "engine/exec/cuda_memory.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace engine {

namespace {

namespace cuda = kernels::cuda;
using CudaStatus = cuda::Status;

constexpr std::size_t kMostBytes = std::size_t(512) << 20;  // far beyond the caches of a GPU
constexpr int kShareOfMemory = 8;
constexpr int kPasses = 5;
constexpr int kCallsAtOnce = 4;     // in a pass
constexpr double kLongCallMs = 50;  // one such call says it all

/// What is left of a piece of memory.
class Pieces
{
public:
    Pieces(DevicePtr begin, std::size_t bytes)
        : next_(begin)
        , left_(bytes)
    {
    }
    /// 0: there is no more.
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

tl::unexpected<Error> DeviceMeter::too_small(const CudaDevice& device)
{
    return fail(Error::Code::DeviceFull, "there is too little room on " + std::string(device.id()) + " to measure it");
}

Result<DeviceMeter> DeviceMeter::make(CudaDevice& device)
{
    const std::int64_t free = device.total_bytes() - device.other_programs_bytes();
    const std::size_t bytes = std::min(kMostBytes, std::size_t(std::max<std::int64_t>(0, free) / kShareOfMemory)) /
                              kCudaAlignment * kCudaAlignment;
    if (bytes == 0)
        return too_small(device);
    const auto memory = device.allocate(bytes);
    if (!memory)
        return tl::unexpected(memory.error());
    DeviceMeter meter(device, *memory, bytes);
    if (const Status ok = device.clear(*memory, bytes); !ok)
        return tl::unexpected(ok.error());
    return meter;
}

DeviceMeter::DeviceMeter(DeviceMeter&& other) noexcept
    : device_(other.device_)
    , memory_(std::exchange(other.memory_, nullptr))
    , bytes_(other.bytes_)
{
}

DeviceMeter::~DeviceMeter()
{
    if (memory_)
        device_->release(memory_, bytes_);
}

Result<double> DeviceMeter::seconds(const std::function<CudaStatus()>& queue_work)
{
    const cuda::Driver& driver = device_->driver();
    const auto begin = driver.make_event(cuda::Timing::On), end = driver.make_event(cuda::Timing::On);
    CudaStatus failed = begin.status != CudaStatus::Ok ? begin.status : end.status;
    const auto keep = [&](CudaStatus status) {
        if (failed == CudaStatus::Ok)
            failed = status;
    };
    std::vector<double> passes;
    int passes_to_do = kPasses, calls = kCallsAtOnce;
    for (int pass = -1; pass < passes_to_do && failed == CudaStatus::Ok; ++pass) {
        keep(driver.record(begin.value, device_->compute()));
        for (int call = 0; call < (pass < 0 ? 1 : calls) && failed == CudaStatus::Ok; ++call)
            keep(queue_work());
        keep(driver.record(end.value, device_->compute()));
        keep(driver.synchronize(end.value));
        const auto ms = driver.elapsed_ms(begin.value, end.value);
        keep(ms.status);
        if (pass >= 0)
            passes.push_back(std::max(1e-9, double(ms.value) / 1e3 / calls));
        else if (double(ms.value) > kLongCallMs)
            passes_to_do = calls = 1;
    }
    for (const auto& event : {begin, end})
        if (event.status == CudaStatus::Ok)
            (void)driver.destroy(event.value);
    if (const Status ok = device_->checked(failed); !ok)
        return tl::unexpected(ok.error());
    std::ranges::sort(passes);
    return passes[passes.size() / 2];
}

Result<double> DeviceMeter::copy_bytes_per_s()
{
    const std::size_t half = bytes_ / 2;
    auto time = seconds([&] {
        return device_->driver().copy_on_device(cuda_address(memory_ + half), cuda_address(memory_), half,
                                                device_->compute());
    });
    if (!time)
        return time;
    return 2.0 * double(half) / *time;
}

Result<double> DeviceMeter::road_bytes_per_s(Device::Road road)
{
    CudaStaging host;
    const std::size_t bytes = std::min(bytes_, std::size_t(64) << 20);
    if (const Status ok = host.allocate(*device_, bytes); !ok)
        return tl::unexpected(ok.error());
    const cuda::Driver& driver = device_->driver();
    auto time = seconds([&] {
        return road == Device::Road::ToDevice
                   ? driver.copy_to_device(cuda_address(memory_), host.data(), bytes, device_->compute())
                   : driver.copy_to_host(host.data(), cuda_address(memory_), bytes, device_->compute());
    });
    if (!time)
        return time;
    return double(bytes) / *time;
}

Result<double> DeviceMeter::weights_bytes_per_s(std::span<const WeightRead> layer)
{
    Pieces pieces(memory_, bytes_);
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
        return too_small(*device_);
    auto time = seconds([&] {
        for (const cuda::Product& product : products)
            if (const CudaStatus status = cuda::matvec(device_->driver(), device_->compute(), product);
                status != CudaStatus::Ok)
                return status;
        return CudaStatus::Ok;
    });
    if (!time)
        return time;
    return bytes / *time;
}

Result<double> DeviceMeter::attention_bytes_per_s(const KvForm& form, int kv_heads, int tokens)
{
    const kernels::KvBlockLayout layout{kernel_type(form.k_type), kernel_type(form.v_type), form.head_length,
                                        form.head_length, form.block_tokens};
    const int heads = kv_heads * form.group;
    const std::size_t column = cuda_aligned(std::size_t(kv_heads) * layout.bytes());
    // Half of the memory, so that partials find room beside the blocks.
    const int blocks = std::min((tokens + form.block_tokens - 1) / form.block_tokens, int(bytes_ / 2 / column));
    if (blocks < 1)
        return too_small(*device_);
    const cuda::PartialsLayout partials(1, blocks + 1, heads, layout.v_dim);
    Pieces pieces(memory_, bytes_);
    std::vector<std::uint64_t> table(std::size_t(blocks) + 1, 0);
    for (int b = 0; b < blocks; ++b)
        table[std::size_t(b)] = pieces.take(column);
    const int first = blocks * form.block_tokens - 1;
    const cuda::DevicePtr table_at = pieces.take(table.size() * sizeof(std::uint64_t)), first_at = pieces.take(4);
    const cuda::DevicePtr q = pieces.take(std::size_t(heads * form.head_length) * sizeof(float));
    const cuda::DevicePtr q_scale = pieces.take(sizeof(float));
    const cuda::Rows out{pieces.take(std::size_t(heads * layout.v_dim) * sizeof(float)), heads * layout.v_dim};
    const cuda::DevicePtr partials_at = pieces.take(partials.bytes);
    if (!table_at || !first_at || !q || !q_scale || !out.at || !partials_at)
        return too_small(*device_);

    const cuda::Driver& driver = device_->driver();
    const cuda::Queue queue = device_->compute();
    CudaStatus sent = driver.copy_to_device(table_at, table.data(), table.size() * sizeof(std::uint64_t), queue);
    if (sent == CudaStatus::Ok)
        sent = driver.copy_to_device(first_at, &first, sizeof first, queue);
    if (sent == CudaStatus::Ok)
        sent = driver.synchronize(queue);
    if (const Status ok = device_->checked(sent); !ok)
        return tl::unexpected(ok.error());
    const cuda::Attention attention{.kv = {layout, kv_heads, table_at},
                                    .group = form.group,
                                    .first = first_at,
                                    .q = {q, heads * form.head_length},
                                    .q_scale = q_scale,
                                    .max_blocks = blocks + 1,
                                    .partials = partials_at};
    auto time = seconds([&] {
        const CudaStatus status = cuda::attend_blocks(driver, queue, attention);
        return status == CudaStatus::Ok ? cuda::merge_partials(driver, queue, attention, 0, 0, out) : status;
    });
    if (!time)
        return time;
    return double(blocks) * double(kv_heads) * double(layout.bytes()) / *time;
}

}  // namespace engine
