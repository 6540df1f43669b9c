// How a placement opens its device.
#include "engine/plan/columns.h"
#include "engine/plan/measure_device.h"
#include "engine/plan/model_facts.h"
#include "engine/plan/three_way.h"
#include "engine/run/model_placement.h"

#include <string>

namespace engine {

Status ModelPlacement::check(const PlacementOptions& options) const
{
    if (options.emulated.vram_bytes < 0 || options.emulated.fit_tokens < 0 || options.emulated.link_bytes_per_s < 0 ||
        options.vram_budget_bytes < 0)
        return fail(Error::Code::BadRequest,
                    "a device cannot have less than no memory, and no link less than no speed");
    if (options.device_layers.value_or(0) < 0)
        return fail(Error::Code::BadRequest, "a device cannot hold less than no layer");
    if (!(options.watermark >= 0.1 && options.watermark <= 1.0))
        return fail(Error::Code::BadRequest, "the watermark must be between 10 and 100 percent of the budget");
    if (!(options.kv_offload_share >= 0 && options.kv_offload_share <= 1))
        return fail(Error::Code::BadRequest, "between 0 and 100 percent of the KV cache can lie on the host");
    return {};
}

Status ModelPlacement::open(const PlacementOptions& options, const StepLimits& limits)
{
    options_ = options;
    auto opened = open_device(options, limits);
    if (!opened)
        return tl::unexpected(opened.error());
    adopt(std::move(*opened));
    return {};
}

/// Opens a device without moving anything of the model there; what is open now stays as it is.
Result<OpenedDevice> ModelPlacement::open_device(const PlacementOptions& options, const StepLimits& limits)
{
    OpenedDevice opened{.options = options, .layout = {{}, cache_.block_tokens(), 0, DeviceLayout::Road::Copies}};
    if (options.device == PlacementOptions::Device::Cpu)
        return opened;
    if (Status ok = check(options); !ok)
        return tl::unexpected(ok.error());
    cpu_.allow_runs();
    const bool on_gpu = options.device == PlacementOptions::Device::Cuda;
    if (Status ok = on_gpu ? open_cuda(opened, limits) : open_emulated(opened, limits); !ok)
        return tl::unexpected(ok.error());
    opened.vram->set_limit(limit_bytes(options, opened.layout));
    opened.kv = std::make_unique<DeviceKv>(*opened.vram, cache_.layers(), cache_.page_limit());
    opened.stream =
        std::make_unique<KvStream>(*opened.vram, std::size_t(cache_.page_limit()) * std::size_t(cache_.num_layers()));
    const int slots = opened.stream->set_slots(opened.layout.ring_slots(), std::size_t(opened.layout.largest_block()));
    if (slots == 0 && opened.cuda)  // it cannot do without
        return fail(Error::Code::DeviceFull,
                    "there is no room on " + std::string(opened.device->id()) + " for the model's KV");
    opened.pager = std::make_unique<KvPager>(cache_, *opened.vram, *opened.kv, *opened.stream);
    return opened;
}

/// Takes the opened device as the placement's own: from now on layers may move there.
void ModelPlacement::adopt(OpenedDevice opened)
{
    if (!opened.device)
        return;
    layout_ = std::move(opened.layout);
    device_ = std::move(opened.device);
    emulated_ = opened.emulated;
    vram_ = std::move(opened.vram);
    cuda_ = std::move(opened.cuda);
    cuda_name_ = std::move(opened.cuda_name);
    device_kv_ = std::move(opened.kv);
    stream_ = std::move(opened.stream);
    pager_ = std::move(opened.pager);
    vram_->set_watermark(options_.watermark);
    pager_->set_policy(options_.kv_policy);
    pager_->set_offload_share(options_.kv_offload_share);
    use_rates();
    cache_.set_device(device_kv_.get(), stream_.get());
    want_planned_layers();
}

/// False: not even a block finds room, and the device cannot do without.
bool ModelPlacement::make_ring()
{
    return stream_->set_slots(layout_.ring_slots(), std::size_t(layout_.largest_block())) > 0 || !cuda_;
}

/// What is known of the device as it is now; nothing where another one was measured.
DeviceRates ModelPlacement::device_rates() const
{
    return rates_of(options_.rates.get(), *device_, cuda_name_);
}

DeviceRates ModelPlacement::rates_of(const MachineRates* rates, const Device& device,
                                     const std::string& cuda_name) const
{
    const kernels::KvBlockLayout& form = cache_.layer(0).block;
    return rates ? rates->device_rates(std::string(device.id()), cuda_name, kv_type(form.k_type), kv_type(form.v_type))
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

static std::unique_ptr<Vram> watched(Device& device, const PlacementOptions& options)
{
    auto vram = std::make_unique<Vram>(device);
    vram->set_limit(options.vram_budget_bytes);
    vram->set_watermark(options.watermark);
    return vram;
}

Status ModelPlacement::open_emulated(OpenedDevice& to, const StepLimits& limits) const
{
    to.layout = device_layout(h_, weights_, cache_.layers(), limits.scratch_bytes, DeviceLayout::Road::Copies);
    auto device = std::make_unique<EmulatedDevice>(to.options.emulated, emulated_bytes(to.options, to.layout));
    to.emulated = device.get();
    to.device = std::move(device);
    to.vram = watched(*to.device, to.options);
    to.vram->count(Vram::Use::Scratch, limits.scratch_bytes);
    return {};
}

Status ModelPlacement::open_cuda(OpenedDevice& to, const StepLimits& limits)
{
    if (Status ok = CudaBackend::supports(h_, cache_.layers()); !ok)
        return ok;
    auto device = CudaDevice::open(to.options.cuda_ordinal);
    if (!device)
        return tl::unexpected(device.error());
    CudaDevice& cuda = **device;
    to.device = std::move(*device);
    to.cuda_name = name_with_driver(cuda);
    to.vram = watched(cuda, to.options);
    const DeviceRates rates = rates_of(to.options.rates.get(), cuda, to.cuda_name);
    to.layout = device_layout(h_, weights_, cache_.layers(),
                              cuda_scratch_bytes(h_, cache_, limits.max_rows, limits.max_tokens, rates),
                              DeviceLayout::Road::Link);
    auto backend = CudaBackend::make(cuda, *to.vram, cpu_, h_, cache_, limits.max_rows, limits.max_tokens);
    if (!backend)
        return tl::unexpected(backend.error());
    to.cuda = std::move(*backend);
    return {};
}

}  // namespace engine
