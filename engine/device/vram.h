// Vram counts what the engine holds of a device's memory, by use, and knows how much it may hold: the same for every
// device.
#pragma once

#include "engine/device/device.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <utility>

namespace engine {

/// What may be used of the `left_bytes` that other programs leave. `limit_bytes` is the user's; 0: there is none.
constexpr std::int64_t budget_bytes(std::int64_t limit_bytes, std::int64_t left_bytes)
{
    return limit_bytes > 0 ? std::min(limit_bytes, left_bytes) : left_bytes;
}

/// The part of the budget above which blocks leave.
constexpr std::int64_t high_mark_bytes(std::int64_t budget, double watermark)
{
    return std::int64_t(double(budget) * watermark);
}

class Vram
{
public:
    /// KvAhead: taken for KV to come, and given up when something else needs it.
    enum class Use { Weights, ExpertCache, Kv, State, Ring, Scratch, KvAhead };

    explicit Vram(Device& device)
        : device_(device)
    {
    }

    /// Fails with DeviceFull above the budget, before the device does; DeviceLost.
    Result<DevicePtr> take(Use use, std::size_t bytes) { return take(use, bytes, &Device::allocate); }
    Result<DevicePtr> take_zeroed(Use use, std::size_t bytes) { return take(use, bytes, &Device::allocate_zeroed); }
    /// Makes room for this many bytes below the budget as far as it can, when other uses find none.
    void set_room_maker(std::function<void(std::int64_t bytes)> make_room) { make_room_ = std::move(make_room); }
    void give_back(Use use, DevicePtr memory, std::size_t bytes);
    /// Counts memory that was not taken here: what the backend computes in.
    void count(Use use, std::int64_t bytes);

    std::int64_t used(Use use) const { return used_[std::size_t(use)]; }
    /// Returns what is held without what was taken ahead.
    std::int64_t used() const { return held() - used(Use::KvAhead); }
    std::int64_t held() const;
    /// Returns the most that used() has been.
    std::int64_t peak() const { return peak_bytes_; }

    /// Sets the user's limit. 0: all that other programs leave.
    void set_limit(std::int64_t bytes) { limit_bytes_ = bytes; }
    std::int64_t limit() const { return limit_bytes_; }
    void set_watermark(double share) { watermark_ = share; }
    double watermark() const { return watermark_; }
    /// Returns the user's limit, or less where other programs hold memory.
    std::int64_t budget() const;
    /// Returns how much may be held before blocks leave.
    std::int64_t high_mark() const { return high_mark_bytes(budget(), watermark_); }

    Device& device() { return device_; }
    const Device& device() const { return device_; }

private:
    using Allocate = Result<DevicePtr> (Device::*)(std::size_t bytes);
    Result<DevicePtr> take(Use use, std::size_t bytes, Allocate allocate);

    Device& device_;
    std::array<std::int64_t, 7> used_ = {};
    std::function<void(std::int64_t)> make_room_;
    std::int64_t peak_bytes_ = 0;
    std::int64_t limit_bytes_ = 0;
    double watermark_ = 0.95;
};

}  // namespace engine
