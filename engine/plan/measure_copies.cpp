#include "engine/plan/measure_copies.h"

#include "engine/exec/cuda_address.h"
#include "engine/exec/cuda_memory.h"

#include <algorithm>

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

Result<double> measure_link_bytes_per_s(const DeviceMeter& meter, Device::Direction direction)
{
    CudaStaging host;
    const std::size_t bytes = std::min(meter.bytes(), std::size_t(64) << 20);
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

}  // namespace engine
