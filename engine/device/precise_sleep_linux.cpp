#include "engine/device/precise_sleep.h"

#include <thread>

namespace engine {

void precise_sleep_until(std::chrono::steady_clock::time_point time)
{
    std::this_thread::sleep_until(time);
}

}  // namespace engine
