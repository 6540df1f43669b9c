#include "engine/device/emulated_device.h"

#include "engine/caught.h"

#include <cstring>
#include <new>

namespace engine {

namespace {

constexpr std::align_val_t kAlignment{256};
// Memory that was never written reads as NaN in every KV type, so that a missing copy is noticed.
constexpr int kPoison = 0xff;

}  // namespace

EmulatedDevice::EmulatedDevice(const EmulatedDeviceOptions& options, std::int64_t vram_bytes)
    : options_(options)
    , total_bytes_(vram_bytes)
    , to_device_(options.link_bytes_per_s)
    , to_host_(options.link_bytes_per_s)
{
}

Status EmulatedDevice::call()
{
    ++calls_;
    if (options_.lose_at_call > 0 && calls_ >= options_.lose_at_call)
        return fail(Error::Code::DeviceLost, "the emulated device does not answer any more");
    return {};
}

Result<DevicePtr> EmulatedDevice::allocate(std::size_t bytes)
{
    if (const Status ok = call(); !ok)
        return tl::unexpected(ok.error());
    const bool refused = ++allocations_ == options_.refuse_allocation;
    const bool fits = used_bytes_ + other_programs_bytes_ + std::int64_t(bytes) <= total_bytes_;
    void* const memory = refused || !fits ? nullptr : ::operator new[](bytes, kAlignment, std::nothrow);
    if (!memory)
        return fail(Error::Code::DeviceFull, "the emulated device has no " + std::to_string(bytes) + " bytes left");
    std::memset(memory, kPoison, bytes);
    used_bytes_ += std::int64_t(bytes);
    return static_cast<DevicePtr>(memory);
}

Result<DevicePtr> EmulatedDevice::allocate_zeroed(std::size_t bytes)
{
    auto memory = allocate(bytes);
    if (memory)
        std::memset(*memory, 0, bytes);
    return memory;
}

void EmulatedDevice::release(DevicePtr memory, std::size_t bytes)
{
    ::operator delete[](memory, kAlignment);
    used_bytes_ -= std::int64_t(bytes);
}

Result<Device::Ticket> EmulatedDevice::to_device(const std::byte* from, DevicePtr to, std::size_t bytes,
                                                 Batch /*batch*/)
try {
    if (const Status ok = call(); !ok)
        return tl::unexpected(ok.error());
    return to_device_.give(from, to, bytes);
} catch (...) {
    return caught("to copy to the device");
}

Result<Device::Ticket> EmulatedDevice::to_host(const KvRows& rows)
try {
    if (const Status ok = call(); !ok)
        return tl::unexpected(ok.error());
    return to_host_.give(rows);
} catch (...) {
    return caught("to copy to the host");
}

Result<Device::Ticket> EmulatedDevice::to_host(DevicePtr from, std::byte* to, std::size_t bytes)
try {
    if (const Status ok = call(); !ok)
        return tl::unexpected(ok.error());
    return to_host_.give(from, to, bytes);
} catch (...) {
    return caught("to copy to the host");
}

Status EmulatedDevice::clear(DevicePtr memory, std::size_t bytes)
{
    if (Status ok = call(); !ok)
        return ok;
    std::memset(memory, 0, bytes);
    return {};
}

Status EmulatedDevice::copy_within(DevicePtr from, DevicePtr to, std::size_t bytes)
{
    if (Status ok = call(); !ok)
        return ok;
    std::memcpy(to, from, bytes);
    return {};
}

Status EmulatedDevice::wait(Direction direction, Ticket ticket)
{
    Status ok = call();
    queue(direction).wait(ticket);
    return ok;
}

}  // namespace engine
