#include "engine/plan/measure_joins.h"

#include "engine/exec/cuda_address.h"
#include "engine/exec/cuda_event.h"
#include "engine/exec/cuda_flags.h"
#include "engine/metrics/clock.h"

#include <algorithm>
#include <vector>

namespace engine {

namespace cuda = kernels::cuda;
using CudaStatus = cuda::Status;

namespace {

constexpr int kHandOffs = 32;                 // in a pass
constexpr std::size_t kHandOffBytes = 16384;  // 32 heads of 128 values
constexpr int kLooks = 1000;                  // at a flag, before the driver is asked

/// Queues a kernel that copies floats. As in a decode step, kernels themselves reach the host's page-locked memory.
CudaStatus copy_by_kernel(const cuda::Driver& driver, cuda::Queue queue, cuda::DevicePtr from, std::size_t bytes,
                          cuda::DevicePtr to)
{
    const int n = int(bytes / sizeof(float));
    return cuda::copy_heads(driver, queue, {from, n}, {1, n, n}, 1, {to, n}, n);
}

/// Times hand-offs by flags, without what the device computes before it asks and after it was answered.
class FlagMeter
{
public:
    FlagMeter(CudaDevice& device, DevicePtr memory)
        : device_(device)
        , driver_(device.driver())
        , memory_(memory)
    {
    }
    ~FlagMeter()
    {
        (void)driver_.synchronize(device_.compute());
        if (graph_)
            (void)driver_.destroy(graph_);
    }
    FlagMeter(const FlagMeter&) = delete;
    FlagMeter& operator=(const FlagMeter&) = delete;

    Status make()
    {
        if (Status ok = flags_.allocate(device_, 1); !ok)
            return ok;
        if (Status ok = host_.allocate(device_, kHandOffBytes + sizeof(int)); !ok)
            return ok;
        if (Status ok = graph_done_.make(device_); !ok)
            return ok;
        const cuda::Queue queue = device_.compute();
        CudaStatus failed = driver_.begin_capture(queue);
        if (failed != CudaStatus::Ok)
            return device_.checked(failed);
        const auto keep = [&](CudaStatus status) { failed = failed == CudaStatus::Ok ? status : failed; };
        keep(driver_.copy_to_device(step_there(), step_here(), sizeof(int), queue));
        keep(copy_by_kernel(driver_, queue, cuda_address(memory_), kHandOffBytes, cuda_address(host_.data())));
        keep(flags_.ask(step_there(), 0));
        keep(flags_.wait_for_answer(step_there(), 0));
        keep(copy_by_kernel(driver_, queue, cuda_address(host_.data()), kHandOffBytes, cuda_address(memory_)));
        const auto graph = driver_.end_capture(queue);
        graph_ = graph.value;
        keep(graph.status);
        return device_.checked(failed);
    }

    /// Returns the seconds until the device goes on.
    Result<double> hand_off(int step)
    {
        *step_here() = step;
        const std::int64_t start = now_us();
        if (const Status ok = device_.checked(driver_.launch(graph_, device_.compute())); !ok)
            return tl::unexpected(ok.error());
        if (const Status ok = device_.checked(driver_.record(graph_done_.get(), device_.compute())); !ok)
            return tl::unexpected(ok.error());
        if (!wait_until(start, [&] { return flags_.asked(step, 0); }))
            flags_.give_up(step);
        flags_.answer(step, 0);
        const bool passed = wait_until(start, [&] { return flags_.passed(step, 0); });
        const std::int64_t end = now_us();
        if (const Status ok = device_.checked(driver_.synchronize(device_.compute())); !ok)
            return tl::unexpected(ok.error());
        if (!passed || flags_.late(step))
            return fail(Error::Code::Unsupported, "device and host do not see each other's flags in time");
        return double(std::max<std::int64_t>(1, end - start)) / 1e6;
    }

private:
    cuda::DevicePtr step_there() const { return cuda_address(memory_ + kHandOffBytes); }
    int* step_here() const { return reinterpret_cast<int*>(host_.data() + kHandOffBytes); }

    /// Waits for a flag. Windows collects what is queued until somebody queries an event.
    template <class Flag>
    bool wait_until(std::int64_t start_us, const Flag& raised) const
    {
        for (int look = 1; !raised(); ++look) {
            if (look % kLooks == 0)
                (void)driver_.query(graph_done_.get());  // what went wrong is seen by who waits for it in the end
            if (now_us() - start_us > std::int64_t(CudaFlags::kMostMs) * 1000)
                return false;
        }
        return true;
    }

    CudaDevice& device_;
    const cuda::Driver& driver_;
    DevicePtr memory_;
    CudaFlags flags_;
    CudaStaging host_;
    CudaEvent graph_done_;
    cuda::GraphExec graph_ = nullptr;
};

}  // namespace

Result<double> measure_flag_hand_off_s(const DeviceMeter& meter)
{
    if (meter.bytes() < kHandOffBytes + sizeof(int))
        return fail(Error::Code::DeviceFull, "there is too little room to measure this");
    FlagMeter flags(meter.device(), meter.memory());
    if (const Status ok = flags.make(); !ok)
        return tl::unexpected(ok.error());
    std::vector<double> times;
    for (int step = 1; step <= kHandOffs; ++step) {
        auto time = flags.hand_off(step);
        if (!time)
            return time;
        times.push_back(*time);
    }
    std::ranges::sort(times);
    return times[times.size() / 2];
}

Result<double> measure_hand_off_s(const DeviceMeter& meter)
{
    CudaStaging host;
    if (const Status ok = host.allocate(meter.device(), kHandOffBytes); !ok)
        return tl::unexpected(ok.error());
    const std::size_t bytes = std::min(kHandOffBytes, meter.bytes());
    const cuda::Driver& driver = meter.device().driver();
    const cuda::Queue queue = meter.device().compute();
    CudaStatus failed = CudaStatus::Ok;
    std::vector<double> times;
    for (int i = 0; i < kHandOffs && failed == CudaStatus::Ok; ++i) {
        const std::int64_t start = now_us();
        failed = copy_by_kernel(driver, queue, cuda_address(meter.memory()), bytes, cuda_address(host.data()));
        if (failed == CudaStatus::Ok)
            failed = driver.synchronize(queue);
        if (failed == CudaStatus::Ok)
            failed = copy_by_kernel(driver, queue, cuda_address(host.data()), bytes, cuda_address(meter.memory()));
        times.push_back(double(std::max<std::int64_t>(1, now_us() - start)) / 1e6);
    }
    if (failed == CudaStatus::Ok)
        failed = driver.synchronize(queue);
    if (const Status ok = meter.device().checked(failed); !ok)
        return tl::unexpected(ok.error());
    std::ranges::sort(times);
    return times[times.size() / 2];
}

}  // namespace engine
