// Switches stacks: by a few instructions on x86-64, where a kernel's test does it a million times; by ucontext
// elsewhere. The sanitizers are told of every switch, or they would take one stack for the other.
#include "tests/support/cuda/fiber.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>

#ifndef __x86_64__
#include <ucontext.h>
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace emulator {

namespace {

constexpr std::size_t kStackBytes = std::size_t(128) << 10;

// Stacks begin at page borders. Were their used ends at the same place of a page, the 32 lanes of a warp would fight
// for a few sets of the processor's caches.
constexpr std::size_t kColours = 32, kColourBytes = 9 * 64;

/// The sanitizers' view of one side of a switch.
struct Side {
    const void* bottom = nullptr;
    std::size_t bytes = 0;
    void* fake_stack = nullptr;
    void* tsan_fiber = nullptr;
};

[[maybe_unused]] constinit thread_local Side* left_side = nullptr;

void before_switch([[maybe_unused]] Side& from, [[maybe_unused]] const Side& to)
{
#ifdef __SANITIZE_ADDRESS__
    left_side = &from;
    __sanitizer_start_switch_fiber(&from.fake_stack, to.bottom, to.bytes);
#endif
#ifdef __SANITIZE_THREAD__
    __tsan_switch_to_fiber(to.tsan_fiber, 0);
#endif
}

// Learns where the stack lies that was left: of a thread's own stack it is known only then.
void after_switch([[maybe_unused]] const Side& here)
{
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(here.fake_stack, &left_side->bottom, &left_side->bytes);
#endif
}

}  // namespace

#ifdef __x86_64__

// Saves what a called function must keep, and the stack pointer to *from; then the same backwards from `to`.
extern "C" void spillway_switch_stack(void** from, void* to);
__asm__(R"(
.text
.globl spillway_switch_stack
.type spillway_switch_stack, @function
spillway_switch_stack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size spillway_switch_stack, .-spillway_switch_stack
)");

struct Machine {
    void* stack_pointer = nullptr;

    void prepare(std::byte* stack, std::size_t bytes, void (*entry)())
    {
        auto* top = reinterpret_cast<void**>(stack + bytes);
        top[-2] = reinterpret_cast<void*>(entry);  // taken by the first return, which leaves the stack as a call does
        stack_pointer = top - 8;
    }
    void switch_to(Machine& to) { spillway_switch_stack(&stack_pointer, to.stack_pointer); }
    const void* left_off() const { return stack_pointer; }
};

#else

struct Machine {
    ucontext_t context{};

    void prepare(std::byte* stack, std::size_t bytes, void (*entry)())
    {
        getcontext(&context);
        context.uc_stack.ss_sp = stack;
        context.uc_stack.ss_size = bytes;
        makecontext(&context, entry, 0);
    }
    void switch_to(Machine& to) { swapcontext(&context, &to.context); }
    const void* left_off() const { return context.uc_stack.ss_sp; }
};

#endif

namespace {

/// Something that runs on a stack: a fiber, or the thread that owns fibers.
struct Runner {
    Machine machine;
    Side side;

    void switch_to(Runner& to)
    {
        before_switch(side, to.side);
        machine.switch_to(to.machine);
        after_switch(side);
    }
};

constinit thread_local Runner owner;

}  // namespace

struct Fiber::State : Runner {
    std::unique_ptr<std::byte[]> stack{new std::byte[kStackBytes]};
    std::size_t usable_bytes = kStackBytes;  // of the stack, from below
    void (*body)(void*) = nullptr;
    void* argument = nullptr;

    static constinit thread_local State* starting;
    static void entry();
};

constinit thread_local Fiber::State* Fiber::State::starting = nullptr;

void Fiber::State::entry()
{
    State& s = *starting;
    after_switch(s.side);
    s.body(s.argument);
    std::abort();  // the body returned, or it was resumed after its end
}

Fiber::Fiber()
    : state_(std::make_unique<State>())
{
    static std::atomic<std::size_t> made = 0;
    state_->usable_bytes -= made++ % kColours * kColourBytes;
    state_->side.bottom = state_->stack.get();
    state_->side.bytes = kStackBytes;
#ifdef __SANITIZE_THREAD__
    state_->side.tsan_fiber = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber()
{
#ifdef __SANITIZE_THREAD__
    __tsan_destroy_fiber(state_->side.tsan_fiber);
#endif
}

void Fiber::start(void (*body)(void*), void* argument)
{
#ifdef __SANITIZE_ADDRESS__
    // The stack holds marks of frames that were given up, above where the fiber left off.
    if (const auto* left_off = static_cast<const std::byte*>(state_->machine.left_off()))
        __asan_unpoison_memory_region(left_off, std::size_t(state_->stack.get() + kStackBytes - left_off));
#endif
    state_->side.fake_stack = nullptr;
    state_->body = body;
    state_->argument = argument;
    state_->machine.prepare(state_->stack.get(), state_->usable_bytes, State::entry);
}

void Fiber::resume()
{
#ifdef __SANITIZE_THREAD__
    owner.side.tsan_fiber = __tsan_get_current_fiber();
#endif
    State::starting = state_.get();
    owner.switch_to(*state_);
}

void Fiber::suspend()
{
    state_->switch_to(owner);
}

void Fiber::switch_to(Fiber& next)
{
    State::starting = next.state_.get();
    state_->switch_to(*next.state_);
}

}  // namespace emulator
