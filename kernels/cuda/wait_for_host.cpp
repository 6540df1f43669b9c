#include "kernels/cuda/wait_for_host.h"

#include "kernels/cuda/launching.h"
#include "kernels/cuda/ops.h"

namespace kernels::cuda {

Status raise_flag(const Driver& driver, Queue queue, DevicePtr step, DevicePtr flag)
{
    return driver.launch(Kernel::raise_flag, {1}, {32}, 0, queue, step, flag);
}

Status wait_for_host(const Driver& driver, Queue queue, const HostWait& wait)
{
    const HostWaitArguments arguments{
        .step = pointer<int>(wait.step),
        .answer = pointer<HostAnswer>(wait.answer),
        .late = pointer<int>(wait.late),
        .passed = pointer<int>(wait.passed),
        .most_ns = std::uint64_t(wait.most_ms) * 1'000'000u,
    };
    return driver.launch(Kernel::wait_for_host, {1}, {32}, 0, queue, arguments);
}

}  // namespace kernels::cuda
