// Holds the emulated driver's functions for memory on both sides, and copies. Memory begins as NaNs.
#include "tests/support/cuda/emulated_state.h"

#include <algorithm>

namespace emulator {

namespace {

// The bytes of never written memory: not a number as a float or a half.
Allocation poisoned(std::size_t bytes)
{
    Allocation allocation{decltype(Allocation::memory)(new (std::align_val_t{256}) std::byte[bytes]), bytes, bytes};
    std::memset(allocation.memory.get(), 0xff, bytes);
    return allocation;
}

/// Copies bytes; where there are none, both may be null, which memcpy does not take.
void copy_bytes(void* to, const void* from, std::size_t bytes)
{
    if (bytes > 0)
        std::memcpy(to, from, bytes);
}

bool inside(const std::map<std::uintptr_t, Allocation>& memory, std::uintptr_t at, std::size_t bytes)
{
    auto after = memory.upper_bound(at);
    if (after == memory.begin())
        return false;
    const auto& [begin, allocation] = *--after;
    return at + bytes <= begin + allocation.bytes;
}

bool is_pinned(const void* at, std::size_t bytes)
{
    const auto begin = reinterpret_cast<std::uintptr_t>(at);
    const auto after = gpu->registered.upper_bound(begin);
    if (after != gpu->registered.begin() && begin + bytes <= std::prev(after)->first + std::prev(after)->second)
        return true;
    return inside(gpu->pinned, begin, bytes);
}

void* address(DevicePtr at)
{
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(at));
}

Status enqueue_copy(Queue queue, Task task)
{
    const Status queued = enqueue(queue, std::move(task));
    if (queued == Status::Ok && queue->capture)
        ++gpu->copies_recorded;
    return queued;
}

Status memory_info(std::size_t* free_bytes, std::size_t* total_bytes)
{
    const Call call;
    if (call.refused())
        return call.status;
    const std::size_t taken = gpu->used + (gpu->facts.spills ? 0 : gpu->held);
    *total_bytes = gpu->facts.memory_bytes;
    *free_bytes = gpu->facts.memory_bytes - std::min(taken, gpu->facts.memory_bytes);
    return Status::Ok;
}

Status memory_alloc(DevicePtr* ptr, std::size_t bytes)
{
    Call call;
    if (call.refused())
        return call.status;
    ++calls_of_this_thread().allocations;
    if (spoils_capture())
        return Status::CaptureUnsupported;
    call.wait_for_all();
    if (bytes == 0)
        return Status::InvalidValue;
    const std::size_t grain = gpu->facts.granularity_bytes, taken = (bytes + grain - 1) / grain * grain;
    if (!gpu->facts.spills && gpu->used + gpu->held + taken > gpu->facts.memory_bytes)
        return Status::OutOfMemory;
    Allocation allocation = poisoned(bytes);
    allocation.taken_bytes = taken;
    const auto at = reinterpret_cast<std::uintptr_t>(allocation.memory.get());
    gpu->device.emplace(at, std::move(allocation));
    gpu->used += taken;
    gpu->peak = std::max(gpu->peak, gpu->used);
    gpu->peak_spilled = std::max(gpu->peak_spilled, gpu->spilled());
    *ptr = at;
    return Status::Ok;
}

// Waits for all that is under way, as the real one does. Memory of a lost device is gone too.
Status memory_free(DevicePtr ptr)
{
    Call call;
    if (!gpu)
        return call.status;
    ++calls_of_this_thread().frees;
    if (spoils_capture())
        return Status::CaptureUnsupported;
    submit_all();
    gpu->changed.wait(call.lock, [] {
        for (Queue queue : gpu->queues)
            if (queue->busy || (gpu->lost == Status::Ok && !queue->tasks.empty()))
                return false;
        return true;
    });
    const auto found = gpu->device.find(static_cast<std::uintptr_t>(ptr));
    if (found == gpu->device.end())
        return call.refused() ? call.status : Status::InvalidValue;
    if (call.refused() && gpu->lost == Status::Ok)
        return call.status;
    gpu->used -= found->second.taken_bytes;
    gpu->device.erase(found);
    return call.status;
}

Status pinned_alloc(void** ptr, std::size_t bytes, unsigned)
{
    const Call call;
    if (call.refused())
        return call.status;
    ++calls_of_this_thread().page_locks;
    if (spoils_capture())
        return Status::CaptureUnsupported;
    Allocation allocation = poisoned(bytes);
    *ptr = allocation.memory.get();
    gpu->pinned.emplace(reinterpret_cast<std::uintptr_t>(*ptr), std::move(allocation));
    return Status::Ok;
}

// Waits for what is under way, as the real one does.
Status pinned_free(void* ptr)
{
    Call call;
    if (call.refused() && (!gpu || gpu->lost == Status::Ok))
        return call.status;
    if (spoils_capture())
        return Status::CaptureUnsupported;
    gpu->changed.wait(call.lock, [] { return std::ranges::none_of(gpu->queues, [](Queue q) { return q->busy; }); });
    const bool found = gpu->pinned.erase(reinterpret_cast<std::uintptr_t>(ptr));
    return found ? call.status : Status::InvalidValue;
}

Status host_register(void* ptr, std::size_t bytes, unsigned)
{
    Call call;
    if (call.refused())
        return call.status;
    ++calls_of_this_thread().page_locks;
    if (spoils_capture())
        return Status::CaptureUnsupported;
    if (gpu->refuses_page_locks)
        return Status::OutOfMemory;
    call.wait_for_all();
    call.lock.unlock();
    std::this_thread::sleep_for(gpu->page_lock_delay);
    call.lock.lock();
    if (!ptr || bytes == 0 || !gpu->registered.emplace(reinterpret_cast<std::uintptr_t>(ptr), bytes).second)
        return Status::InvalidValue;
    return Status::Ok;
}

Status host_unregister(void* ptr)
{
    const Call call;
    if (call.refused() && (!gpu || gpu->lost == Status::Ok))
        return call.status;
    if (spoils_capture())
        return Status::CaptureUnsupported;
    const bool found = gpu->registered.erase(reinterpret_cast<std::uintptr_t>(ptr));
    return found ? call.status : Status::InvalidValue;
}

// Memory that is not pinned is read at once and written before the call returns, as by the real one.
Status copy_to_device(DevicePtr to, const void* from, std::size_t bytes, Queue queue)
{
    const Call call;
    if (call.refused())
        return call.status;
    if (!on_device(to, bytes))
        return Status::InvalidValue;
    if (is_pinned(from, bytes))
        return enqueue_copy(queue, [=] { copy_bytes(address(to), from, bytes); });
    const auto* first = static_cast<const std::byte*>(from);
    const auto kept = std::make_shared<std::vector<std::byte>>(first, first + bytes);
    return enqueue_copy(queue, [=] { copy_bytes(address(to), kept->data(), bytes); });
}

Status copy_to_host(void* to, DevicePtr from, std::size_t bytes, Queue queue)
{
    Call call;
    if (call.refused())
        return call.status;
    if (!on_device(from, bytes))
        return Status::InvalidValue;
    const bool waits = !is_pinned(to, bytes);
    if (waits && queue && queue->capture)
        return Status::CaptureUnsupported;
    const Status queued = enqueue_copy(queue, [=] { copy_bytes(to, address(from), bytes); });
    if (waits)
        submit_all();
    if (waits && queued == Status::Ok)
        gpu->changed.wait(call.lock, [&] { return idle(queue) && !queue->busy; });
    return queued != Status::Ok ? queued : gpu->lost;
}

// From the device to the host, which is all that the program asks for.
Status copy_rectangle(const RectangleCopy* copy, Queue queue)
{
    Call call;
    if (call.refused())
        return call.status;
    const RectangleCopy c = *copy;
    const std::size_t reach = (c.height - 1) * c.from.pitch_bytes + c.width_bytes;
    const bool shape = c.height > 0 && c.width_bytes <= c.from.pitch_bytes && c.width_bytes <= c.to.pitch_bytes;
    const bool sides = c.from.memory == RectangleCopy::Memory::Device && c.to.memory == RectangleCopy::Memory::Host;
    if (!shape || !sides || c.from.x_bytes || c.from.y || c.to.x_bytes || c.to.y || !on_device(c.from.device, reach))
        return Status::InvalidValue;
    const bool waits = !is_pinned(c.to.host, (c.height - 1) * c.to.pitch_bytes + c.width_bytes);
    if (waits && queue && queue->capture)
        return Status::CaptureUnsupported;
    const Status queued = enqueue_copy(queue, [c] {
        for (std::size_t run = 0; run < c.height; ++run)
            std::memcpy(static_cast<std::byte*>(const_cast<void*>(c.to.host)) + run * c.to.pitch_bytes,
                        static_cast<const std::byte*>(address(c.from.device)) + run * c.from.pitch_bytes,
                        c.width_bytes);
    });
    if (waits)
        submit_all();
    if (waits && queued == Status::Ok)
        gpu->changed.wait(call.lock, [&] { return idle(queue) && !queue->busy; });
    return queued != Status::Ok ? queued : gpu->lost;
}

Status copy_on_device(DevicePtr to, DevicePtr from, std::size_t bytes, Queue queue)
{
    const Call call;
    if (call.refused())
        return call.status;
    // Pinned memory has one address on both sides.
    const auto known = [&](DevicePtr at) { return on_device(at, bytes) || is_pinned(address(at), bytes); };
    if (!known(to) || !known(from))
        return Status::InvalidValue;
    return enqueue_copy(queue, [=] { copy_bytes(address(to), address(from), bytes); });
}

Status fill(DevicePtr to, unsigned char value, std::size_t bytes, Queue queue)
{
    const Call call;
    if (call.refused())
        return call.status;
    ++calls_of_this_thread().fills;
    if (!on_device(to, bytes))
        return Status::InvalidValue;
    return enqueue(queue, [=] { std::memset(address(to), value, bytes); });
}

}  // namespace

bool on_device(DevicePtr at, std::size_t bytes)
{
    return inside(gpu->device, at, bytes);
}

void add_memory_functions(DriverTable& table)
{
    table.memory_info = memory_info;
    table.memory_alloc = memory_alloc;
    table.memory_free = memory_free;
    table.pinned_alloc = pinned_alloc;
    table.pinned_free = pinned_free;
    table.copy_to_device = copy_to_device;
    table.copy_to_host = copy_to_host;
    table.host_register = host_register;
    table.host_unregister = host_unregister;
    table.copy_rectangle = copy_rectangle;
    table.copy_on_device = copy_on_device;
    table.fill = fill;
}

}  // namespace emulator
