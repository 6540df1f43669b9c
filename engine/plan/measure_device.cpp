#include "engine/plan/measure_device.h"

#include "engine/caught.h"
#include "engine/plan/device_meter.h"
#include "engine/plan/measure_copies.h"
#include "engine/plan/measure_decoding.h"
#include "engine/plan/measure_joins.h"
#include "engine/plan/measure_products.h"

#include <new>
#include <optional>
#include <vector>

namespace engine {

std::string name_with_driver(const CudaDevice& device)
{
    const kernels::cuda::DeviceInfo& info = device.driver().info();
    return info.name + ", CUDA driver " + std::to_string(info.driver_version / 1000) + "." +
           std::to_string(info.driver_version % 1000 / 10);
}

namespace {

constexpr int kAttendedTokens = 32768;

/// Holds what a measurement gave, or its error for all that follow.
class Kept
{
public:
    template <class Measure>
    void operator()(std::optional<double>& into, const Measure& measure)
    {
        if (!status)
            return;
        const Result<double> rate = measure();
        if (rate)
            into = *rate;
        else
            status = tl::unexpected(rate.error());
    }
    /// Takes a measurement that a machine may lack: only the loss of the device is an error.
    template <class Measure>
    void if_it_works(std::optional<double>& into, const Measure& measure)
    {
        std::optional<double> rate;
        Kept tried{status};
        tried(rate, measure);
        if (tried.status)
            into = rate;
        else if (tried.status.error().code == Error::Code::DeviceLost)
            status = tried.status;
    }
    Status status = {};
};

}  // namespace

Result<DeviceRates> measure_rates_of(CudaDevice& device, std::span<const WeightRead> layer, const KvForm& form,
                                     int kv_heads)
{
    auto meter = DeviceMeter::make(device);
    if (!meter)
        return tl::unexpected(meter.error());
    DeviceRates rates;
    rates.name = name_with_driver(device);
    Kept keep;
    keep(rates.copy_bytes_per_s, [&] { return measure_copy_bytes_per_s(*meter); });
    keep(rates.to_device_bytes_per_s, [&] { return measure_link_bytes_per_s(*meter, Device::Direction::ToDevice); });
    keep(rates.to_host_bytes_per_s, [&] { return measure_link_bytes_per_s(*meter, Device::Direction::ToHost); });
    keep(rates.unlocked_to_device_bytes_per_s, [&] { return measure_unlocked_bytes_per_s(*meter); });
    keep.if_it_works(rates.stream_bytes_per_s, [&] { return measure_stream_bytes_per_s(*meter, form, kv_heads); });
    keep(rates.weights_bytes_per_s, [&] { return measure_weights_bytes_per_s(*meter, layer); });
    keep(rates.small_kernels_s,
         [&] { return measure_small_kernels_s(*meter, form, kv_heads, layer.front().row_length); });
    keep(rates.attention_bytes_per_s,
         [&] { return measure_attention_bytes_per_s(*meter, form, kv_heads, kAttendedTokens); });
    keep(rates.matmul_ops_per_s, [&] { return measure_matmul_ops_per_s(*meter, layer.front()); });
    keep(rates.hand_off_s, [&] { return measure_hand_off_s(*meter); });
    keep.if_it_works(rates.blas_ops_per_s, [&] { return measure_blas_ops_per_s(*meter, layer.front()); });
    keep.if_it_works(rates.flag_hand_off_s, [&] { return measure_flag_hand_off_s(*meter); });
    if (!keep.status)
        return tl::unexpected(keep.status.error());
    return rates;
}

Result<DeviceRates> measure_cuda_rates(int ordinal)
try {
    auto device = CudaDevice::open(ordinal);
    if (!device)
        return tl::unexpected(device.error());
    // A layer of a 7B model's sizes in the type that most files have, or of a small one's where there is no room.
    using kernels::TensorType;
    const std::int64_t wide = 4096, tall = 14336;
    const auto layer_of = [](std::int64_t dim, std::int64_t ffn) {
        const auto bytes = [](std::int64_t n, std::int64_t rows) {
            return std::int64_t(kernels::row_bytes(TensorType::Q4_K, n)) * rows;
        };
        return std::vector<WeightRead>{{TensorType::Q4_K, int(dim), bytes(dim, dim + dim / 2)},
                                       {TensorType::Q4_K, int(dim), bytes(dim, dim)},
                                       {TensorType::Q4_K, int(dim), bytes(dim, 2 * ffn)},
                                       {TensorType::Q4_K, int(ffn), bytes(ffn, dim)}};
    };
    KvForm form{KvType::F16, KvType::F16, 128, 4, 256};
    int kv_heads = 8;
    auto rates = measure_rates_of(**device, layer_of(wide, tall), form, kv_heads);
    if (!rates && rates.error().code == Error::Code::DeviceFull) {
        kv_heads = 1;
        rates = measure_rates_of(**device, layer_of(wide / 16, tall / 14), form, kv_heads);
    }
    if (!rates)
        return rates;
    auto meter = DeviceMeter::make(**device);
    if (!meter)
        return tl::unexpected(meter.error());
    form.k_type = form.v_type = KvType::Q8_0;
    const auto q8 = measure_attention_bytes_per_s(*meter, form, kv_heads, kAttendedTokens);
    if (!q8)
        return tl::unexpected(q8.error());
    rates->attention_q8_0_bytes_per_s = *q8;
    return rates;
} catch (...) {
    return caught("to measure the GPU");
}

}  // namespace engine
