// IdleKernels makes kernels of the emulated GPU do nothing: one, which whatever checks kernels must notice, or nearly
// all.
#pragma once

#include "tests/support/cuda/emulated_gpu.h"

#include <map>
#include <set>
#include <string>

namespace emulator {

/// A driver table that looks at launches and leaves out some. For one thread and one test at a time.
class IdleKernels
{
public:
    struct State {
        std::string idle;                // this kernel does nothing
        std::set<std::string> launched;  // kernels so far, the idle one too
        bool all_idle = false;           // but those that the host waits for, or that wait for the host
        std::map<kernels::cuda::Function, std::string> names = {};
    };
    static State& state()
    {
        static State one;
        return one;
    }

    static const kernels::cuda::DriverTable& table()
    {
        static const kernels::cuda::DriverTable one = [] {
            kernels::cuda::DriverTable t = EmulatedGpu::table();
            t.module_function = find;
            t.launch_kernel = launch;
            t.launch_kernel_ex = nullptr;  // none begins early
            return t;
        }();
        return one;
    }

private:
    using Status = kernels::cuda::Status;

    static Status find(kernels::cuda::Function* function, kernels::cuda::Module module, const char* name)
    {
        const Status status = EmulatedGpu::table().module_function(function, module, name);
        if (status == Status::Ok)
            state().names[*function] = name;
        return status;
    }
    static Status launch(kernels::cuda::Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                         unsigned by, unsigned bz, unsigned shared, kernels::cuda::Queue queue, void** arguments,
                         void** extra)
    {
        const std::string& name = state().names[function];
        state().launched.insert(name);
        if (name == state().idle || (state().all_idle && name != "raise_flag" && name != "wait_for_host"))
            return Status::Ok;
        return EmulatedGpu::table().launch_kernel(function, gx, gy, gz, bx, by, bz, shared, queue, arguments, extra);
    }
};

}  // namespace emulator
