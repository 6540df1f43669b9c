// CudaCalls queues the driver's calls of one backend. The first that fails is kept, and what follows it does nothing:
// the engine asks for it when the step has ended.
#pragma once

#include "engine/device/cuda_device.h"

#include <string>
#include <utility>

namespace engine {

/// Shared by the parts of a backend, which owns it; on its thread.
class CudaCalls
{
public:
    explicit CudaCalls(CudaDevice& device)
        : device_(device)
        , driver_(device.driver())
        , queue_(device.compute())
    {
    }
    CudaCalls(const CudaCalls&) = delete;
    CudaCalls& operator=(const CudaCalls&) = delete;

    CudaDevice& device() const { return device_; }
    const kernels::cuda::Driver& driver() const { return driver_; }
    kernels::cuda::Queue queue() const { return queue_; }

    /// Makes a call unless an earlier one has failed, and keeps its status.
    template <class Call>
    void run(const Call& call)
    {
        if (ok())
            failed_ = call();
    }
    /// Queues a kernel.
    template <class Launcher, class... Arguments>
    void launch(Launcher launcher, const Arguments&... arguments)
    {
        run([&] { return launcher(driver_, queue_, arguments...); });
    }
    bool ok() const { return failed_ == kernels::cuda::Status::Ok; }
    kernels::cuda::Status failed() const { return failed_; }
    void forget_failure() { failed_ = kernels::cuda::Status::Ok; }
    /// Returns what has failed since this was last called.
    Status take_status() { return device_.checked(std::exchange(failed_, kernels::cuda::Status::Ok)); }

    /// Keeps one sentence about what costs speed from now on; a newer one takes its place.
    void warn(std::string sentence) { warning_ = std::move(sentence); }
    /// Returns that sentence once. Empty: there is nothing new.
    std::string take_warning() { return std::exchange(warning_, {}); }

private:
    CudaDevice& device_;
    const kernels::cuda::Driver& driver_;
    const kernels::cuda::Queue queue_;
    kernels::cuda::Status failed_ = kernels::cuda::Status::Ok;
    std::string warning_;
};

}  // namespace engine
