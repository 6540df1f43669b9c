#include "engine/plan/measure_copies.h"

#include "engine/device/huge_array.h"
#include "engine/exec/cuda_address.h"
#include "engine/exec/cuda_memory.h"
#include "engine/kv/kv_cache.h"
#include "engine/plan/device_bytes.h"
#include "engine/plan/model_costs.h"

#include <algorithm>
#include <chrono>
#include <vector>

namespace engine {

namespace cuda = kernels::cuda;

Result<double> measure_copy_bytes_per_s(const DeviceMeter& meter)
{
    const std::size_t half = meter.bytes() / 2;
    auto time = meter.seconds([&] {
        return meter.device().driver().copy_on_device(cuda_address(meter.memory() + half), cuda_address(meter.memory()),
                                                      half, meter.device().compute());
    });
    if (!time)
        return time;
    return 2.0 * double(half) / *time;
}

static std::size_t link_bytes(const DeviceMeter& meter)
{
    return std::min(meter.bytes(), std::size_t(64) << 20);
}

Result<double> measure_unlocked_bytes_per_s(const DeviceMeter& meter)
{
    const std::vector<std::byte> host(link_bytes(meter));
    auto time = meter.seconds([&] {
        return meter.device().driver().copy_to_device(cuda_address(meter.memory()), host.data(), host.size(),
                                                      meter.device().compute());
    });
    if (!time)
        return time;
    return double(host.size()) / *time;
}

Result<double> measure_link_bytes_per_s(const DeviceMeter& meter, Device::Direction direction)
{
    CudaStaging host;
    const std::size_t bytes = link_bytes(meter);
    if (const Status ok = host.allocate(meter.device(), bytes); !ok)
        return tl::unexpected(ok.error());
    const cuda::Driver& driver = meter.device().driver();
    auto time = meter.seconds([&] {
        return direction == Device::Direction::ToDevice
                   ? driver.copy_to_device(cuda_address(meter.memory()), host.data(), bytes, meter.device().compute())
                   : driver.copy_to_host(host.data(), cuda_address(meter.memory()), bytes, meter.device().compute());
    });
    if (!time)
        return time;
    return double(bytes) / *time;
}

namespace {

constexpr int kStreamedLayers = 4;
constexpr int kStreamPasses = 5;

/// Holds pages of the host's, page-locked like those of conversations.
class LockedPages
{
public:
    LockedPages(CudaDevice& device, std::size_t bytes)
        : device_(device)
        , bytes_(bytes)
    {
    }
    /// Takes this many pages. Throws std::bad_alloc.
    void take(int count)
    {
        for (int i = 0; i < count; ++i) {
            pages_.emplace_back(bytes_);
            device_.pin(pages_.back().data(), bytes_);
        }
        device_.settle_pins();
    }
    ~LockedPages()
    {
        for (const HugeArray& page : pages_)
            device_.unpin(page.data(), bytes_);
    }
    LockedPages(const LockedPages&) = delete;
    LockedPages& operator=(const LockedPages&) = delete;

    const std::byte* page(std::size_t i) const { return pages_[i].data(); }

private:
    CudaDevice& device_;
    const std::size_t bytes_;
    std::vector<HugeArray> pages_;
};

}  // namespace

Result<double> measure_stream_bytes_per_s(const DeviceMeter& meter, const KvForm& form, int kv_heads)
{
    const kernels::KvBlockLayout layout{kernel_type(form.k_type), kernel_type(form.v_type), form.head_length,
                                        form.head_length, form.block_tokens};
    const std::size_t block = std::size_t(kv_heads) * layout.bytes();
    const DeviceLayout one_layer({{.kv_block = std::int64_t(block)}}, form.block_tokens, 0,
                                 DeviceLayout::Transport::Link);
    CudaDevice& device = meter.device();
    Vram vram(device);
    LockedPages pages(device, kStreamedLayers * block);  // it outlives the stream, which waits for what it still reads
    KvStream stream(vram, std::size_t(kStreamedLayers * DeviceLayout::kMostRingSlots));
    const int in_layer = stream.set_slots(one_layer.ring_slots(), block);
    if (in_layer == 0)
        return meter.too_small();
    pages.take(in_layer);
    std::vector<const std::byte*> found(static_cast<std::size_t>(in_layer));

    std::vector<double> seconds;
    for (int pass = 0; pass < kStreamPasses; ++pass) {
        stream.clear();
        for (int l = 0; l < kStreamedLayers; ++l)
            for (int b = 0; b < in_layer; ++b)
                stream.add({l, b, pages.page(std::size_t(b)) + std::size_t(l) * block, block});
        const auto begin = std::chrono::steady_clock::now();
        stream.start();
        for (int l = 0; l < kStreamedLayers; ++l)
            for (KvBlocks runs(&stream, found, l, 0, in_layer, in_layer); runs.next();)
                ;
        if (!stream.status())
            return tl::unexpected(stream.status().error());
        if (const Status ok = device.checked(device.driver().synchronize(device.compute())); !ok)
            return tl::unexpected(ok.error());
        seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    std::ranges::sort(seconds);
    return double(kStreamedLayers * in_layer) * double(block) / seconds[seconds.size() / 2];
}

}  // namespace engine
