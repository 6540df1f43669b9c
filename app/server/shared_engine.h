// SharedEngine lets the window and the server use one engine, each through a seat of its own.
#pragma once

#include "engine/engine.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace server {

/// Describes the open model for guests.
struct OpenModel {
    std::uint64_t generation = 0;  // rises whenever a model is opened or closed
    std::optional<engine::ModelInfo> model = {};
};

/// The Engine of a guest. It stands for the model that was open when its thread called look() last: once that model is
/// gone, all calls are refused until the next look().
class GuestEngine : public engine::Engine
{
public:
    virtual OpenModel look() = 0;
};

class SharedCore;

/// Gives out seats. A seat is an Engine, used by a thread of its own. The owner's seat opens and closes models; guests
/// answer with the open model, in conversations of their own.
///
/// Only one seat is in the engine at a time, for a call or a step and never for a whole turn. Seats enter in the order
/// in which they come, so that each waits for one step of each of the others at most. A step advances the turns of all
/// seats. News of another seat's turns wait for that seat's thread, whose next step passes them on instead of making a
/// step of its own.
///
/// When the owner opens or closes a model, the guests' turns end with one sentence, and their conversations are gone. A
/// guest that is not admitted is refused without waiting.
class SharedEngine
{
public:
    /// Says whether guests may use a model that was opened. Called on the owner's thread.
    using Admits = std::function<bool(const engine::ModelInfo&)>;
    explicit SharedEngine(std::unique_ptr<engine::Engine> engine, Admits admits = {});
    ~SharedEngine();

    /// Returns the seat that opens models. Call it once. The engine is destroyed with the seat, on its thread. The
    /// seat's on_posted may come on any thread, and must not call anything here.
    std::unique_ptr<engine::Engine> owner();
    /// Returns a seat for a guest. `changed` is called on any thread when open() changes, and must not call anything
    /// here.
    std::unique_ptr<GuestEngine> guest(std::function<void()> changed);

    // Any thread:
    OpenModel open() const;
    /// Returns the number of guests' turns that run.
    int guest_turns() const;
    /// Sets a function that is called on any thread when a guest's turn begins, and must not call anything here. Call
    /// it before there is any guest.
    void set_on_guest_turn(std::function<void()> on_guest_turn);

private:
    class Seat;
    const std::shared_ptr<SharedCore> core_;
};

}  // namespace server
