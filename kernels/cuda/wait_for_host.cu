// Lets the device, in the middle of a graph, tell the host that something is there, and wait for what the host does
// with it: one thread, and never for long.
#include "kernels/cuda/device.h"
#include "kernels/cuda/wait_for_host.h"

using namespace kernels::cuda;

// Raises a flag; once the host sees it, it can read what was computed before.
extern "C" __global__ void raise_flag(const int* step, int* flag)
{
    if (threadIdx.x == 0)
        store_for_host(flag, *step);
}
EMULATED(raise_flag);

// Reads both words at once.
static __device__ inline HostAnswer load_from_host(const HostAnswer* at)
{
    const std::uint64_t words = load_from_host(reinterpret_cast<const std::uint64_t*>(at));
    return {int(std::uint32_t(words)), int(std::uint32_t(words >> 32))};
}

// Waits for the host: what comes after it in the queue can read what the host wrote before it raised `ready`. A step
// that is late already will be computed again, so nothing in it waits any more.
extern "C" __global__ void wait_for_host(const HostWaitArguments a)
{
    if (threadIdx.x != 0)
        return;
    const int step = *a.step;
    const std::uint64_t begin = now_ns();
    bool waits = load_from_host(a.late) != step;
    while (waits) {
        const HostAnswer answer = load_from_host(a.answer);
        waits = answer.ready != step && answer.given_up != step;
        if (waits && now_ns() - begin > a.most_ns) {
            store_for_host(a.late, step);
            waits = false;
        }
        if (waits)
            rest_a_little();
    }
    store_for_host(a.passed, step);
}
EMULATED(wait_for_host);
