// SharedEngine lets the window and the server use one engine, each through a seat of its own.
#pragma once

#include "engine/engine.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace server {

/// Holds what guests may use of it.
struct OpenModel {
    std::uint64_t generation = 0;  // rises whenever a model is opened or closed
    std::optional<engine::ModelInfo> model = {};
};

/// A guest's Engine. It is the one model's that was open when its thread looked last: once that is gone all is refused,
/// until it has looked again.
class GuestEngine : public engine::Engine
{
public:
    virtual OpenModel look() = 0;
};

class SharedCore;

/// A seat is an Engine, used by a thread of its own. The owner's seat opens and closes models; guests answer with the
/// one that is open there, and begin and end conversations of their own.
///
/// Only one seat is in the engine at a time, for a call or a step and never for a turn, and they enter in the order in
/// which they come: so nobody waits longer than a step of each of the others. A step advances the turns of all seats.
/// What it says of another seat's turns waits there for that seat's thread, which finds it instead of a step of its
/// own.
///
/// When the owner opens or closes a model the guests' turns end with one sentence, and their conversations are gone.
/// Who is refused does not wait.
class SharedEngine
{
public:
    /// Says whether guests may use a model that was opened. Called on the owner's thread.
    using Admits = std::function<bool(const engine::ModelInfo&)>;
    explicit SharedEngine(std::unique_ptr<engine::Engine> engine, Admits admits = {});
    ~SharedEngine();

    /// The one that opens models; once. The engine ends with it, on its thread. Its on_posted may come from any thread,
    /// and may call nothing here from there.
    std::unique_ptr<engine::Engine> owner();
    /// `changed` is called on any thread when open() is another one, and may call nothing here from there.
    std::unique_ptr<GuestEngine> guest(std::function<void()> changed);

    // Any thread:
    OpenModel open() const;
    /// Turns of guests that run.
    int guest_turns() const;
    /// Called on any thread when a guest's turn begins; may call nothing here from there. Before there is a guest.
    void set_on_guest_turn(std::function<void()> on_guest_turn);

private:
    class Seat;
    const std::shared_ptr<SharedCore> core_;
};

}  // namespace server
