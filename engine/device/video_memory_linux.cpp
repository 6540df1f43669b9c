// Linux takes no memory back from a process: what is free, the driver says.
#include "engine/device/video_memory.h"

namespace engine {

struct VideoMemoryProbe::Adapter {
};

VideoMemoryProbe::VideoMemoryProbe(const AdapterName& /*gpu*/) {}

VideoMemoryProbe::~VideoMemoryProbe() = default;

std::optional<VideoMemory> VideoMemoryProbe::ask() const
{
    return std::nullopt;
}

}  // namespace engine
