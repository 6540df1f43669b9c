// How a placement opens its device.
#include "engine/plan/measure_device.h"
#include "engine/plan/model_facts.h"
#include "engine/plan/three_way.h"
#include "engine/run/model_placement.h"

#include <string>

namespace engine {

static Status check(const PlacementOptions& options)
{
    if (options.emulated.vram_bytes < 0 || options.emulated.fit_tokens < 0 || options.emulated.link_bytes_per_s < 0 ||
        options.vram_budget_bytes < 0)
        return fail(Error::Code::BadRequest,
                    "a device cannot have less than no memory, and no link less than no speed");
    if (!(options.watermark >= 0.1 && options.watermark <= 1.0))
        return fail(Error::Code::BadRequest, "the watermark must be between 10 and 100 percent of the budget");
    if (!(options.kv_offload_share >= 0 && options.kv_offload_share <= 1))
        return fail(Error::Code::BadRequest, "between 0 and 100 percent of the KV cache can lie on the host");
    return {};
}

Status ModelPlacement::open(const PlacementOptions& options, const StepLimits& limits)
{
    options_ = options;
    if (options.device == PlacementOptions::Device::Cpu)
        return {};
    if (Status ok = check(options); !ok)
        return ok;
    cpu_.allow_runs();
    Status opened = options.device == PlacementOptions::Device::Cuda ? open_cuda(limits) : open_emulated(limits);
    if (opened)
        opened = prepare_kv();
    if (!opened)
        close();
    return opened;
}

Status ModelPlacement::prepare_kv()
{
    if (options_.budget_fit_tokens > 0)
        vram_->set_limit(layout_.device_size(options_.budget_fit_tokens, options_.watermark));
    device_kv_ = std::make_unique<DeviceKv>(*vram_, cache_.layers(), cache_.page_limit());
    stream_ = std::make_unique<KvStream>(*vram_, std::size_t(cache_.page_limit()) * std::size_t(cache_.num_layers()));
    if (!make_ring())
        return fail(Error::Code::DeviceFull,
                    "there is no room on " + std::string(device_->id()) + " for the model's KV");
    pager_ = std::make_unique<KvPager>(cache_, *vram_, *device_kv_, *stream_);
    pager_->set_policy(options_.kv_policy);
    pager_->set_offload_share(options_.kv_offload_share);
    use_rates();
    cache_.set_device(device_kv_.get(), stream_.get());
    return want_layers(options_.device_layers);
}

/// False: not even a block finds room, and the device cannot do without.
bool ModelPlacement::make_ring()
{
    return stream_->set_slots(layout_.ring_slots(), std::size_t(layout_.largest_block())) > 0 || !cuda_;
}

/// What is known of the device as it is now; nothing where another one was measured.
DeviceRates ModelPlacement::device_rates() const
{
    const kernels::KvBlockLayout& form = cache_.layer(0).block;
    return options_.rates ? options_.rates->device_rates(std::string(device_->id()), cuda_name_, kv_type(form.k_type),
                                                         kv_type(form.v_type))
                          : DeviceRates();
}

void ModelPlacement::use_rates()
{
    pager_->set_stream_choice(stream_choice());
    if (!cuda_)
        return;
    const DeviceRates rates = device_rates();
    cuda_->set_joining(rates.joins_by_flags() ? CudaJoining::Flags : CudaJoining::CutGraphs);
    if (rates.multiplies_by_blas())
        cuda_->use_blas(h_);
}

/// How `auto` divides what a layer has on the host, by the rates of this machine; none where they are not known, or
/// where the device computes on the host's own cores and gains nothing by copying what they can read in place.
KvPager::StreamChoice ModelPlacement::stream_choice() const
{
    const MachineRates* rates = cuda_ ? options_.rates.get() : nullptr;
    if (!rates)
        return {};
    const DeviceRates device = device_rates();
    if (!rates->dram_read_bytes_per_s || !device.weights_bytes_per_s || !device.attention_bytes_per_s ||
        !device.to_device_bytes_per_s || !device.hand_off_s)
        return {};
    constexpr double kManyBytes = 1e12;  // attention reads memory, not caches
    const ModelFacts facts = model_facts(h_, weights_);
    const double ring_bytes = double(layout_.ring_bytes());
    struct LayerCosts {
        SplitCosts costs;
        double block_bytes, resident_s_per_block;
    };
    std::vector<LayerCosts> layers;
    for (int l = 0; l < cache_.num_layers(); ++l) {
        const KvLayerShape& kv = cache_.layer(l);
        const LayerWork& work = facts.layers[std::size_t(l)];
        const auto cpu = rates->attention_seconds(kv_type(kv.block.k_type), kv_type(kv.block.v_type), kv.block.k_dim,
                                                  work.group, 1, kManyBytes);
        if (!cpu)
            return {};
        const double weights_s = double(work.read_bytes()) / *device.weights_bytes_per_s;
        const auto block_bytes = double(kv.bytes());
        layers.push_back({{.ahead_bytes = std::min(ring_bytes, weights_s * *device.to_device_bytes_per_s),
                           .cpu_s_per_byte = *cpu,
                           .link_s_per_byte = 1 / *device.to_device_bytes_per_s,
                           .dram_s_per_byte = 1 / *rates->dram_read_bytes_per_s,
                           .hand_off_s = *device.hand_off_s},
                          block_bytes,
                          block_bytes / *device.attention_bytes_per_s});
    }
    return [layers](int l, int on_host, int blocks) {
        const LayerCosts& layer = layers[std::size_t(l)];
        SplitCosts costs = layer.costs;
        costs.resident_s = blocks * layer.resident_s_per_block;
        return blocks_to_stream(on_host, layer.block_bytes, costs);
    };
}

void ModelPlacement::watch_memory()
{
    vram_ = std::make_unique<Vram>(*device_);
    vram_->set_limit(options_.vram_budget_bytes);
    vram_->set_watermark(options_.watermark);
}

Status ModelPlacement::open_emulated(const StepLimits& limits)
{
    layout_ = device_layout(h_, weights_, cache_.layers(), limits.scratch_bytes, DeviceLayout::Road::Copies);
    const EmulatedDeviceOptions& options = options_.emulated;
    const std::int64_t vram_bytes =
        options.vram_bytes > 0 ? options.vram_bytes : layout_.device_size(options.fit_tokens, options_.watermark);
    auto device = std::make_unique<EmulatedDevice>(options, vram_bytes);
    emulated_ = device.get();
    device_ = std::move(device);
    watch_memory();
    vram_->count(Vram::Use::Scratch, limits.scratch_bytes);
    return {};
}

Status ModelPlacement::open_cuda(const StepLimits& limits)
{
    if (Status ok = CudaBackend::supports(h_, cache_.layers()); !ok)
        return ok;
    auto device = CudaDevice::open(options_.cuda_ordinal);
    if (!device)
        return tl::unexpected(device.error());
    CudaDevice& cuda = **device;
    device_ = std::move(*device);
    cuda_name_ = name_with_driver(cuda);
    watch_memory();
    layout_ = device_layout(h_, weights_, cache_.layers(),
                            cuda_scratch_bytes(h_, cache_, limits.max_rows, limits.max_tokens, device_rates()),
                            DeviceLayout::Road::Link);
    auto backend = CudaBackend::make(cuda, *vram_, cpu_, h_, cache_, limits.max_rows, limits.max_tokens);
    if (!backend)
        return tl::unexpected(backend.error());
    cuda_ = std::move(*backend);
    return {};
}

}  // namespace engine
