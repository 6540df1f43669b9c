#include "engine/plan/device_meter.h"

#include "engine/exec/cuda_memory.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace engine {

namespace cuda = kernels::cuda;
using CudaStatus = cuda::Status;

static constexpr std::size_t kMostBytes = std::size_t(512) << 20;  // far beyond the caches of a GPU
static constexpr int kShareOfMemory = 8;
static constexpr int kPasses = 5;
static constexpr int kCallsAtOnce = 4;     // in a pass
static constexpr double kLongCallMs = 50;  // one such call says it all

static tl::unexpected<Error> too_small_to_measure(const CudaDevice& device)
{
    return fail(Error::Code::DeviceFull, "there is too little room on " + std::string(device.id()) + " to measure it");
}

Result<DeviceMeter> DeviceMeter::make(CudaDevice& device)
{
    const std::int64_t free = device.total_bytes() - device.other_programs_bytes();
    const std::size_t bytes = std::min(kMostBytes, std::size_t(std::max<std::int64_t>(0, free) / kShareOfMemory)) /
                              kCudaAlignment * kCudaAlignment;
    if (bytes == 0)
        return too_small_to_measure(device);
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

Result<double> DeviceMeter::seconds(const std::function<CudaStatus()>& queue_work) const
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

tl::unexpected<Error> DeviceMeter::too_small() const
{
    return too_small_to_measure(*device_);
}

}  // namespace engine
