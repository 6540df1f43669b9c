#include "engine/device/vram.h"

#include <algorithm>
#include <numeric>
#include <string>

namespace engine {

Result<DevicePtr> Vram::take(Use use, std::size_t bytes, Allocate allocate)
{
    if (make_room_ && use != Use::KvAhead && held() + std::int64_t(bytes) > budget())
        make_room_(std::int64_t(bytes));
    if (held() + std::int64_t(bytes) > budget())
        return fail(Error::Code::DeviceFull,
                    "the VRAM budget of " + std::to_string(budget() >> 20) + " MiB is used up");
    auto memory = (device_.*allocate)(bytes);
    if (!memory && memory.error().code == Error::Code::DeviceFull && make_room_ && use != Use::KvAhead) {
        make_room_(budget() - held() + std::int64_t(bytes));  // the driver has less than the budget says
        memory = (device_.*allocate)(bytes);
    }
    if (memory)
        count(use, std::int64_t(bytes));
    return memory;
}

void Vram::give_back(Use use, DevicePtr memory, std::size_t bytes)
{
    device_.release(memory, bytes);
    count(use, -std::int64_t(bytes));
}

void Vram::count(Use use, std::int64_t bytes)
{
    used_[std::size_t(use)] += bytes;
    peak_bytes_ = std::max(peak_bytes_, used());
}

std::int64_t Vram::held() const
{
    return std::accumulate(used_.begin(), used_.end(), std::int64_t(0));
}

std::int64_t Vram::budget() const
{
    return budget_bytes(limit_bytes_,
                        std::max<std::int64_t>(0, device_.total_bytes() - device_.other_programs_bytes()));
}

}  // namespace engine
