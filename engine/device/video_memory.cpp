#include "engine/device/video_memory.h"

namespace engine {

static VideoMemoryFinder& video_memory_finder()
{
    static VideoMemoryFinder find = find_system_video_memory;
    return find;
}

std::unique_ptr<VideoMemoryProbe> find_video_memory(const AdapterName& gpu)
{
    return video_memory_finder()(gpu);
}

void set_video_memory_finder(VideoMemoryFinder find)
{
    video_memory_finder() = find ? find : find_system_video_memory;
}

}  // namespace engine
