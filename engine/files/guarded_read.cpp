// Keeps the registry of guarded ranges. What happens at a fault stands in the platform's file.
#include "engine/files/guarded_read.h"

#include "engine/files/guard_registry.h"

#include <utility>

namespace engine {

void GuardRegistry::write(GuardSlot& slot, std::uintptr_t begin, std::uintptr_t end)
{
    slot.writes.fetch_add(1);
    slot.begin.store(begin);
    slot.end.store(end);
    slot.writes.fetch_add(1);
}

GuardSlot* GuardRegistry::add(std::uintptr_t begin, std::uintptr_t end)
{
    const std::lock_guard lock(adding_);
    Chunk* chunk = &first_;
    for (;;) {
        for (GuardSlot& slot : chunk->slots) {
            if (slot.end.load() != 0)
                continue;
            slot.replaced.store(0);
            slot.lost.store(false);
            write(slot, begin, end);
            return &slot;
        }
        if (!chunk->next.load())
            chunk->next.store(new Chunk);
        chunk = chunk->next.load();
    }
}

void GuardRegistry::remove(GuardSlot* slot)
{
    const std::lock_guard lock(adding_);
    write(*slot, 0, 0);
}

GuardedRange GuardRegistry::find(std::uintptr_t address)
{
    for (Chunk* chunk = &first_; chunk; chunk = chunk->next.load()) {
        for (GuardSlot& slot : chunk->slots) {
            const std::uint32_t before = slot.writes.load();
            const std::uintptr_t begin = slot.begin.load();
            const std::uintptr_t end = slot.end.load();
            if (before % 2 == 0 && slot.writes.load() == before && address >= begin && address < end)
                return {&slot, begin, end};
        }
    }
    return {};
}

GuardRegistry& guard_registry()
{
    // Never destroyed: the handler may run until the process is gone.
    static GuardRegistry& registry = *new GuardRegistry;
    return registry;
}

ReadGuard::ReadGuard(std::span<const std::byte> mapped)
{
    GuardRegistry& registry = guard_registry();
    static std::once_flag installed;
    std::call_once(installed, install_fault_handler);
    const auto begin = reinterpret_cast<std::uintptr_t>(mapped.data());
    slot_ = registry.add(begin, begin + mapped.size());
}

ReadGuard::ReadGuard(ReadGuard&& other) noexcept
    : slot_(std::exchange(other.slot_, nullptr))
{
}

ReadGuard& ReadGuard::operator=(ReadGuard&& other) noexcept
{
    std::swap(slot_, other.slot_);
    return *this;
}

ReadGuard::~ReadGuard()
{
    if (slot_)
        guard_registry().remove(slot_);
}

bool ReadGuard::lost() const
{
    return slot_ && slot_->lost.load();
}

}  // namespace engine
