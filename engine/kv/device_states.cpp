#include "engine/kv/device_states.h"

namespace engine {

namespace {

using Direction = Device::Direction;

constexpr std::size_t kDeviceAlignment = 256;

std::size_t on_device_bytes(std::size_t bytes)
{
    return (bytes + kDeviceAlignment - 1) / kDeviceAlignment * kDeviceAlignment;
}

}  // namespace

DeviceStates::DeviceStates(RecurrentStates& states, Vram& vram)
    : states_(states)
    , vram_(vram)
    , memory_(std::size_t(states.num_layers()))
{
}

DeviceStates::~DeviceStates()
{
    for (int l = 0; l < int(memory_.size()); ++l)
        if (memory_[std::size_t(l)])
            vram_.give_back(Vram::Use::State, memory_[std::size_t(l)], std::size_t(bytes(states_.layer_bytes(l))));
}

std::int64_t DeviceStates::bytes(std::size_t layer_bytes)
{
    return 2 * std::int64_t(on_device_bytes(layer_bytes));
}

Status DeviceStates::enter(StateId state)
{
    if (state == resident_) {
        home_ = false;
        return {};
    }
    if (Status ok = leave_all(); !ok)
        return ok;
    // A stopped step may still compute on a state that was given up meanwhile.
    if (Status ok = vram_.device().copy_after_compute(Direction::ToDevice); !ok)
        return ok;
    for (int l = 0; l < int(memory_.size()); ++l)
        if (memory_[std::size_t(l)]) {
            const auto* from = reinterpret_cast<const std::byte*>(states_.host_layer(state, l));
            const auto ticket = vram_.device().to_device(from, memory_[std::size_t(l)], states_.layer_bytes(l));
            if (!ticket)
                return tl::unexpected(ticket.error());
            if (Status ok = vram_.device().compute_after(Direction::ToDevice, *ticket); !ok)
                return ok;
        }
    hold(state);  // only now: if a copy has failed, no state lies here
    home_ = false;
    return {};
}

/// Notes that the device's memory holds `state` from now on, or none.
void DeviceStates::hold(StateId state)
{
    changes_ += state != resident_ ? 1 : 0;
    resident_ = state;
}

Status DeviceStates::copy_home(int l)
{
    Device& device = vram_.device();
    auto* to = reinterpret_cast<std::byte*>(states_.host_layer(resident_, l));
    const auto ticket = device.to_host(memory_[std::size_t(l)], to, states_.layer_bytes(l));
    return ticket ? device.wait(Direction::ToHost, *ticket) : Status(tl::unexpected(ticket.error()));
}

Status DeviceStates::send_home(StateId state)
{
    if (state != resident_ || home_)
        return {};
    if (Status ok = vram_.device().copy_after_compute(Direction::ToHost); !ok)
        return ok;
    for (int l = 0; l < int(memory_.size()); ++l)
        if (memory_[std::size_t(l)])
            if (Status ok = copy_home(l); !ok)
                return ok;
    home_ = true;
    return {};
}

Status DeviceStates::leave_all()
{
    if (Status ok = send_home(resident_); !ok)
        return ok;
    hold(kNoState);
    home_ = true;
    return {};
}

Status DeviceStates::join(int l)
{
    const std::size_t bytes = states_.layer_bytes(l);
    if (bytes == 0)
        return {};
    // The next step brings this layer's part with the others.
    if (Status ok = leave_all(); !ok)
        return ok;
    const auto memory = vram_.take(Vram::Use::State, std::size_t(DeviceStates::bytes(bytes)));
    if (!memory)
        return tl::unexpected(memory.error());
    memory_[std::size_t(l)] = *memory;
    return {};
}

Status DeviceStates::leave(int l)
{
    DevicePtr& memory = memory_[std::size_t(l)];
    if (!memory)
        return {};
    Status status = leave_all();
    if (!status)
        mark_lost();
    vram_.give_back(Vram::Use::State, memory, std::size_t(bytes(states_.layer_bytes(l))));
    memory = nullptr;
    return status;
}

float* DeviceStates::layer_before(StateId state, int l) const
{
    const bool here = layer(state, l) != nullptr;
    return here ? reinterpret_cast<float*>(memory_[std::size_t(l)] + on_device_bytes(states_.layer_bytes(l))) : nullptr;
}

void DeviceStates::forget(StateId state)
{
    if (state != resident_)
        return;
    hold(kNoState);
    home_ = true;
}

void DeviceStates::rename(StateId from, StateId to)
{
    if (from == resident_)
        hold(to);
}

void DeviceStates::mark_lost()
{
    if (resident_ != kNoState && !home_)
        states_.mark_damaged(resident_);
    hold(kNoState);
    home_ = true;
}

}  // namespace engine
