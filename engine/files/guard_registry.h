// Lists the address ranges that guarded_read watches, in a form that a fault handler may read at any moment.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

namespace engine {

/// One watched range. `writes` is odd while begin and end change; a handler that sees it odd or changing may pass the
/// slot by, since nobody reads a range that is being added or removed.
struct GuardSlot {
    std::atomic<std::uint32_t> writes = 0;
    std::atomic<std::uintptr_t> begin = 0;
    std::atomic<std::uintptr_t> end = 0;  // 0: free
    std::atomic<int> replaced = 0;        // what the platform's handler did so far
    std::atomic<bool> lost = false;
};

struct GuardedRange {
    GuardSlot* slot = nullptr;  // null: the address is in no range
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
};

/// All watched ranges of the process. add and remove lock; find does not, allocates nothing and is safe in a signal
/// handler. Chunks of slots are never given back.
class GuardRegistry
{
public:
    GuardSlot* add(std::uintptr_t begin, std::uintptr_t end);
    void remove(GuardSlot* slot);
    GuardedRange find(std::uintptr_t address);

private:
    struct Chunk {
        std::array<GuardSlot, 64> slots;
        std::atomic<Chunk*> next = nullptr;
    };
    static void write(GuardSlot& slot, std::uintptr_t begin, std::uintptr_t end);

    std::mutex adding_;
    Chunk first_;
};

GuardRegistry& guard_registry();

/// Installs the platform's fault handler (guarded_read_linux.cpp, guarded_read_windows.cpp). Called once.
void install_fault_handler();

}  // namespace engine
