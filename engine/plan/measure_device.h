// Measures what a GPU does in a decode step, each by itself, through the kernels that the program computes with: the
// numbers of DeviceRates.
#pragma once

#include "engine/device/cuda_device.h"
#include "engine/machine_rates.h"
#include "engine/plan/measure_rates.h"
#include "engine/plan/model_facts.h"

#include <functional>
#include <span>
#include <string>

namespace engine {

/// For as long as it lives it holds memory of the device: at most 512 MB, and an eighth of it. The engine's thread.
class DeviceMeter
{
public:
    /// DeviceFull, DeviceLost.
    static Result<DeviceMeter> make(CudaDevice& device);
    ~DeviceMeter();
    DeviceMeter(DeviceMeter&& other) noexcept;
    DeviceMeter& operator=(DeviceMeter&&) = delete;

    // Each: DeviceFull, DeviceLost, Unsupported.

    /// From one half of that memory to the other: what is read and what is written.
    Result<double> copy_bytes_per_s();
    /// Page-locked memory of the host's, one road by itself.
    Result<double> road_bytes_per_s(Device::Road road);
    /// The products of a layer in a decode step, the layer's weights from memory each time.
    Result<double> weights_bytes_per_s(std::span<const WeightRead> layer);
    /// Products of many tokens with such a matrix, their activations rounded first: multiplications and additions.
    Result<double> matmul_ops_per_s(const WeightRead& matrix);
    /// The same by cuBLAS. Unsupported: there is none, or it does not start.
    Result<double> blas_ops_per_s(const WeightRead& matrix);
    /// Attention of one token over so many of a layer, its partials merged; less where there is no room.
    Result<double> attention_bytes_per_s(const KvForm& form, int kv_heads, int tokens);
    /// To the host and back: what a layer sends to be attended there, and its result.
    Result<double> hand_off_s();
    /// The same within a graph, by flags. Unsupported: device and host do not see each other's, or not in time.
    Result<double> flag_hand_off_s();

private:
    DeviceMeter(CudaDevice& device, DevicePtr memory, std::size_t bytes)
        : device_(&device)
        , memory_(memory)
        , bytes_(bytes)
    {
    }
    /// Seconds of one call of what is queued for the device: the median of some, after one that does not count.
    Result<double> seconds(const std::function<kernels::cuda::Status()>& queue_work);
    static tl::unexpected<Error> too_small(const CudaDevice& device);

    CudaDevice* device_;
    DevicePtr memory_;
    std::size_t bytes_;
};

/// "NVIDIA H100 80GB HBM3, CUDA driver 12.8": what rates of a GPU hold for.
std::string name_with_driver(const CudaDevice& device);

/// What a decode step of such layers asks for. `attention_bytes_per_s` is that of the form.
Result<DeviceRates> measure_rates_of(CudaDevice& device, std::span<const WeightRead> layer, const KvForm& form,
                                     int kv_heads);

}  // namespace engine
