// Asks what the system gives this process of a GPU's memory, where the system and not the driver says so.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace engine {

/// Windows (DXGI) moves what is above `budget_bytes` out to the host's memory, in silence and at the cost of all speed.
struct VideoMemory {
    std::int64_t budget_bytes = 0;  // of the GPU's own memory, for this process now
    std::int64_t usage_bytes = 0;   // of it, by this process: the driver's context and the window's pictures, too
};

/// Returns what the program holds besides the engine's `used_bytes`. Where something has been moved out, `usage_bytes`
/// does not show it; then it is as much as `before` at least.
inline std::int64_t held_besides(const VideoMemory& memory, std::int64_t used_bytes, std::int64_t before)
{
    const std::int64_t seen = std::max<std::int64_t>(0, memory.usage_bytes - used_bytes);
    const bool moved_out = memory.usage_bytes >= memory.budget_bytes || memory.usage_bytes < used_bytes;
    return moved_out ? std::max(seen, before) : seen;
}

/// Returns how much of `total_bytes` is not left to the engine.
inline std::int64_t held_by_others(const VideoMemory& memory, std::int64_t total_bytes, std::int64_t besides_bytes)
{
    return std::clamp<std::int64_t>(total_bytes - memory.budget_bytes + besides_bytes, 0, total_bytes);
}

/// Returns how much of the engine's `used_bytes` has been moved out already or is about to be, if what the program
/// holds besides stays.
inline std::int64_t spilled_bytes(const VideoMemory& memory, std::int64_t used_bytes, std::int64_t besides_bytes)
{
    const std::int64_t here = std::min(memory.usage_bytes, memory.budget_bytes);
    return std::clamp<std::int64_t>(used_bytes + besides_bytes - here, 0, used_bytes);
}

/// A GPU by its name, and by the number that the system knows it by until it starts again (LUID); 0: none is known.
struct AdapterName {
    std::string name;
    std::uint64_t luid = 0;
};

/// Returns which of the system's adapters the GPU is: the one with its number, or else the only one with its name.
/// Empty where several have its name: what the system says of another one would be taken for this one's, whose memory
/// would then all seem to be moved out.
inline std::optional<std::size_t> find_adapter(std::span<const AdapterName> adapters, const AdapterName& gpu)
{
    const auto numbered = std::ranges::find(adapters, gpu.luid, &AdapterName::luid);
    if (gpu.luid != 0 && numbered != adapters.end())
        return std::size_t(numbered - adapters.begin());
    const auto named = std::ranges::find(adapters, gpu.name, &AdapterName::name);
    if (std::ranges::count(adapters, gpu.name, &AdapterName::name) != 1)
        return std::nullopt;
    return std::size_t(named - adapters.begin());
}

/// One GPU, as the system knows it.
class VideoMemoryProbe
{
public:
    virtual ~VideoMemoryProbe() = default;
    /// Asks the system how much of the GPU's memory this program may have. Empty: it does not say; what the driver says
    /// holds.
    virtual std::optional<VideoMemory> ask() const = 0;
};
using VideoMemoryFinder = std::unique_ptr<VideoMemoryProbe> (*)(const AdapterName& gpu);

/// Returns null where the system sets no limit, or does not know the GPU; what the driver says holds.
std::unique_ptr<VideoMemoryProbe> find_video_memory(const AdapterName& gpu);
/// Sets who finds it from now on, for tests. Null: the machine's own system again.
void set_video_memory_finder(VideoMemoryFinder find);

/// Finds it in the machine's own system; each has a version of its own.
std::unique_ptr<VideoMemoryProbe> find_system_video_memory(const AdapterName& gpu);

}  // namespace engine
