// How a placement opens its device.
#include "engine/plan/model_facts.h"
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
    device_kv_ = std::make_unique<DeviceKv>(*vram_, cache_.layers(), cache_.page_limit());
    stream_ = std::make_unique<KvStream>(*vram_, std::size_t(layout_.largest_block()),
                                         std::size_t(cache_.page_limit()) * std::size_t(cache_.num_layers()));
    if (stream_->set_slot_count(DeviceLayout::kRingSlots) == 0 && cuda_)
        return fail(Error::Code::DeviceFull,
                    "there is no room on " + std::string(device_->id()) + " for the model's KV");
    pager_ = std::make_unique<KvPager>(cache_, *vram_, *device_kv_, *stream_);
    pager_->set_policy(options_.kv_policy);
    pager_->set_offload_share(options_.kv_offload_share);
    cache_.set_device(device_kv_.get(), stream_.get());
    return want_layers(options_.device_layers);
}

void ModelPlacement::watch_memory()
{
    vram_ = std::make_unique<Vram>(*device_);
    vram_->set_limit(options_.vram_budget_bytes);
    vram_->set_watermark(options_.watermark);
}

Status ModelPlacement::open_emulated(const StepLimits& limits)
{
    layout_ = device_layout(h_, weights_, cache_.layers(), limits.scratch_bytes);
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
    if (Status ok = CudaBackend::supports(h_, cache_); !ok)
        return ok;
    auto device = CudaDevice::open(options_.cuda_ordinal);
    if (!device)
        return tl::unexpected(device.error());
    CudaDevice& cuda = **device;
    device_ = std::move(*device);
    watch_memory();
    layout_ = device_layout(h_, weights_, cache_.layers(),
                            CudaBackend::scratch_bytes(h_, cache_, limits.max_rows, limits.max_tokens));
    auto backend = CudaBackend::make(cuda, *vram_, cpu_, h_, cache_, limits.max_rows, limits.max_tokens);
    if (!backend)
        return tl::unexpected(backend.error());
    cuda_ = std::move(*backend);
    return {};
}

}  // namespace engine
