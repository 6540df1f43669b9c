// A stack of its own for a piece of work that can stop in its middle and be taken up again by its owner's thread.
#pragma once

#include <cstddef>
#include <memory>

namespace emulator {

class Fiber
{
public:
    Fiber();
    ~Fiber();
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    /// Makes the next resume() begin `body(argument)` on an empty stack; what ran there before is forgotten, without
    /// its destructors. The body must end with finish().
    void start(void (*body)(void*), void* argument);

    /// From the owner: runs the body until it calls suspend() or finish().
    void resume();

    // From the body.
    void suspend();
    [[noreturn]] void finish();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace emulator
