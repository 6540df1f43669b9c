// Fiber gives a stack of its own to a piece of work that can stop in its middle and be taken up again by its owner's
// thread.
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

    /// Makes the next switch to it begin `body(argument)` on an empty stack; what ran there before is forgotten,
    /// without its destructors. The body must not return: it ends by switching away for good.
    void start(void (*body)(void*), void* argument);

    /// From the owner, a thread: runs the body until it, or a body it switched to, calls suspend().
    void resume();

    // From the body: back to the owner, or on to another body of the same owner.
    void suspend();
    void switch_to(Fiber& next);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace emulator
