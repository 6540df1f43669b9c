// DeviceStates keeps the recurrent state of one sequence on a device, for the layers that are computed there, and
// beside it the state before drafted rows. When another sequence is computed, its state takes that place, and the first
// one is copied home before.
#pragma once

#include "engine/device/vram.h"
#include "engine/kv/recurrent_states.h"

#include <cstdint>
#include <vector>

namespace engine {

/// The memory for a layer is there as long as the layer is, always at the same address.
class DeviceStates
{
public:
    DeviceStates(RecurrentStates& states, Vram& vram);
    ~DeviceStates();
    DeviceStates(const DeviceStates&) = delete;
    DeviceStates& operator=(const DeviceStates&) = delete;

    /// Returns the bytes that a layer's states take of a device.
    static std::int64_t bytes(std::size_t layer_bytes);

    /// Call it before a step on the device, which writes the state from then on. DeviceLost; so below.
    Status enter(StateId state);
    /// Sends the state home. Call it before a step that computes device layers on the host.
    Status leave_all();
    /// Copies this state home if it lies here; the host has it up to date when this returns.
    Status send_home(StateId state);
    /// Call it when a layer has come to the device: its part of the state will follow. DeviceFull.
    Status join(int l);
    /// Call it when a layer leaves: its part goes home. Where that fails the state is damaged.
    Status leave(int l);

    /// Returns the layer's part of the state. Null: it lies on the host.
    float* layer(StateId state, int l) const
    {
        return state == resident_ ? reinterpret_cast<float*>(memory_[std::size_t(l)]) : nullptr;
    }
    /// Does the same for the state before drafted rows. It does not go home: it is of use until the next step only.
    float* layer_before(StateId state, int l) const;
    /// Forgets the state: nobody owns it any more.
    void forget(StateId state);
    /// Notes that what lies here belongs to the state `to` from now on, whose part on the host is a copy of that of
    /// `from`.
    void rename(StateId from, StateId to);
    /// Call it when the device is gone, and with it what was not at home.
    void mark_lost();

    /// Counts how often another state came to lie here, or none any more.
    std::uint64_t changes() const { return changes_; }

private:
    void hold(StateId state);
    Status copy_home(int l);

    RecurrentStates& states_;
    Vram& vram_;
    std::vector<DevicePtr> memory_;  // (layers,) null: the layer is not here, or keeps no state
    StateId resident_ = kNoState;    // whose state lies here
    bool home_ = true;               // the host has it, too
    std::uint64_t changes_ = 0;
};

}  // namespace engine
