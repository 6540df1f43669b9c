// Windows wakes a sleeping thread at its clock's ticks, every 15.6 ms; its timers of high resolution, from version 1803
// on, keep to some 0.5 ms.
#include "engine/device/precise_sleep.h"

#include <windows.h>

#ifndef CREATE_WAITABLE_TIMER_HIGH_RESOLUTION
#define CREATE_WAITABLE_TIMER_HIGH_RESOLUTION 0x00000002
#endif

namespace engine {
namespace {

using Clock = std::chrono::steady_clock;
using Ticks = std::chrono::duration<LONGLONG, std::ratio<1, 10'000'000>>;

struct Timer {
    HANDLE handle = ::CreateWaitableTimerExW(nullptr, nullptr, CREATE_WAITABLE_TIMER_HIGH_RESOLUTION,
                                             SYNCHRONIZE | TIMER_MODIFY_STATE);
    ~Timer()
    {
        if (handle)
            ::CloseHandle(handle);
    }

    bool sleep(Clock::duration left) const
    {
        LARGE_INTEGER due = {};
        due.QuadPart = -std::chrono::ceil<Ticks>(left).count();  // negative: from now on
        return handle && ::SetWaitableTimer(handle, &due, 0, nullptr, nullptr, FALSE) &&
               ::WaitForSingleObject(handle, INFINITE) == WAIT_OBJECT_0;
    }
};

}  // namespace

void precise_sleep_until(Clock::time_point time)
{
    const Timer timer;
    for (auto left = time - Clock::now(); left > Clock::duration::zero(); left = time - Clock::now())
        if (!timer.sleep(left))
            ::Sleep(DWORD(std::chrono::ceil<std::chrono::milliseconds>(left).count()));
}

}  // namespace engine
