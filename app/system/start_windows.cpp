#include "app/system/start.h"

#include <windows.h>

std::optional<std::chrono::milliseconds> processAge()
{
    FILETIME made{}, ended{}, kernel{}, user{}, now{};
    if (!GetProcessTimes(GetCurrentProcess(), &made, &ended, &kernel, &user))
        return {};
    GetSystemTimeAsFileTime(&now);
    const auto ticks = [](const FILETIME& time) {  // of 100 ns
        return (static_cast<long long>(time.dwHighDateTime) << 32) + time.dwLowDateTime;
    };
    return std::chrono::milliseconds((ticks(now) - ticks(made)) / 10000);
}

bool graphicsDriverDraws()
{
    return true;  // Direct3D draws on the processor where there is no graphics card
}

void drawFirst()
{
    (void)SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_ABOVE_NORMAL);
}
