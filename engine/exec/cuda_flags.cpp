#include "engine/exec/cuda_flags.h"

#include "engine/exec/cuda_address.h"

#include <algorithm>
#include <atomic>

namespace engine {

namespace cuda = kernels::cuda;

Status CudaFlags::allocate(const CudaDevice& device, int layers)
{
    const std::size_t words = std::size_t(layers) * kWords + 1;
    if (Status ok = memory_.allocate(device, words * sizeof(int)); !ok)
        return ok;
    device_ = &device;
    num_layers_ = layers;
    layers_ = reinterpret_cast<int*>(memory_.data());
    late_ = layers_ + layers * kWords;
    std::fill_n(layers_, words, 0);
    return {};
}

cuda::Status CudaFlags::ask(cuda::DevicePtr step, int l) const
{
    return cuda::raise_flag(device_->driver(), device_->compute(), step, cuda_address(word(l, kAsked)));
}

cuda::Status CudaFlags::wait_for_answer(cuda::DevicePtr step, int l) const
{
    return cuda::wait_for_host(device_->driver(), device_->compute(),
                               {.step = step,
                                .answer = cuda_address(word(l, kAnswered)),
                                .late = cuda_address(late_),
                                .passed = cuda_address(word(l, kPassed)),
                                .most_ms = kMostMs});
}

void CudaFlags::give_up(int step)
{
    for (int l = 0; l < num_layers_; ++l)
        raise(word(l, kGivenUp), step);
}

bool CudaFlags::raised(const int* flag, int step)
{
    return std::atomic_ref(*const_cast<int*>(flag)).load(std::memory_order_acquire) == step;
}

void CudaFlags::raise(int* flag, int step)
{
    std::atomic_ref(*flag).store(step, std::memory_order_release);
}

}  // namespace engine
