#include "engine/run/on_device.h"

#include "engine/metrics/host_probe.h"
#include "engine/plan/device_choice.h"
#include "engine/plan/expert_hits.h"
#include "engine/plan/expert_stream.h"
#include "engine/plan/measure_device.h"
#include "engine/run/stream_choice.h"

#include <algorithm>

namespace engine {

OnDevice::OnDevice(const ModelOnHost& model)
    : model_(model)
    , layout_({}, model.cache.block_tokens(), 0, DeviceLayout::Transport::Copies)
{
}

Result<std::unique_ptr<OnDevice>> OnDevice::open(const ModelOnHost& model, const PlacementOptions& options,
                                                 const StepLimits& limits)
{
    model.cpu.allow_runs();
    std::unique_ptr<OnDevice> on(new OnDevice(model));
    on->longest_step_ = std::min(limits.max_rows, limits.max_tokens);
    const bool on_gpu = options.device == PlacementOptions::Device::Cuda;
    if (Status ok = on_gpu ? on->open_cuda(options, limits) : on->open_emulated(options, limits); !ok)
        return tl::unexpected(ok.error());
    const KvCache& cache = model.cache;
    on->expert_ring_ = std::make_unique<ExpertRing>(*on->vram_, cache.num_layers(), model.h.experts);
    if (on->cuda_)
        on->cuda_->use(on->expert_ring_.get());
    on->vram_->set_limit(limit_bytes(options, on->layout_));
    // The host's own memory is there at once, so it needs no slabs.
    const std::size_t slab_bytes = on_gpu ? KvSlabs::slab_bytes_for(*on->vram_) : 0;
    on->kv_ = std::make_unique<DeviceKv>(*on->vram_, cache.layers(), cache.page_limit(), slab_bytes);
    on->stream_ =
        std::make_unique<KvStream>(*on->vram_, std::size_t(cache.page_limit()) * std::size_t(cache.num_layers()));
    if (!on->make_ring())
        return fail(Error::Code::DeviceFull, "there is no room on " + on->id() + " for the model's KV");
    on->pager_ = std::make_unique<KvPager>(model.cache, *on->vram_, *on->kv_, *on->stream_);
    on->states_ = std::make_unique<DeviceStates>(model.cache.states(), *on->vram_);
    on->pager_->set_longest_step(on->longest_step_);
    return on;
}

static std::unique_ptr<Vram> watched(Device& device, const PlacementOptions& options)
{
    auto vram = std::make_unique<Vram>(device);
    vram->set_limit(options.vram_budget_bytes);
    vram->set_watermark(options.watermark);
    return vram;
}

Status OnDevice::open_emulated(const PlacementOptions& options, const StepLimits& limits)
{
    layout_ = device_layout(model_.h, model_.weights, model_.cache.layers(), limits.scratch_bytes,
                            DeviceLayout::Transport::Copies);
    layout_.set_experts_first(options.host_experts_first);
    layout_.set_expert_cache_bytes(options.expert_cache_bytes.value_or(0));
    plan_expert_ring(options.rates.get(), rates_of(options.rates.get(), "emulated"));
    auto device = std::make_unique<EmulatedDevice>(options.emulated, emulated_bytes(options, layout_));
    emulated_ = device.get();
    device_ = std::move(device);
    vram_ = watched(*device_, options);
    return {};
}

Status OnDevice::open_cuda(const PlacementOptions& options, const StepLimits& limits)
{
    KvCache& cache = model_.cache;
    if (Status ok = CudaBackend::supports(model_.h, cache.layers()); !ok)
        return ok;
    auto opened = CudaDevice::open(options.cuda_ordinal);
    if (!opened)
        return tl::unexpected(opened.error());
    CudaDevice& device = **opened;
    device_ = std::move(*opened);
    cuda_name_ = name_with_driver(device);
    vram_ = watched(device, options);
    layout_ = device_layout(
        model_.h, model_.weights, cache.layers(),
        cuda_scratch_bytes(model_.h, cache, limits.max_rows, limits.max_tokens, rates_of(options.rates.get())),
        DeviceLayout::Transport::Link);
    layout_.set_experts_first(options.host_experts_first);
    layout_.set_expert_cache_bytes(options.expert_cache_bytes.value_or(0));
    plan_expert_ring(options.rates.get(), rates_of(options.rates.get()));
    auto backend = CudaBackend::make(device, *vram_, model_.cpu, model_.h, cache, limits.max_rows, limits.max_tokens);
    if (!backend)
        return tl::unexpected(backend.error());
    cuda_ = std::move(*backend);
    return {};
}

Result<DeviceLayer> OnDevice::copy_part(int l, LayerPart part)
{
    if (!cuda_)
        model_.host_weights.use_layer(l, part, model_.cpu.pool());
    auto copy = DeviceLayer::copy(*vram_, source_of_copies(l), model_.h, l, part);
    if (!copy)
        return copy;
    if (Status ok = copy->wait(); !ok)
        return tl::unexpected(ok.error());
    return copy;
}

Result<std::int64_t> OnDevice::copy_layer(bool with_experts)
{
    const int l = layers();
    const LayerWeights& source = model_.weights.layers[std::size_t(l)];
    with_experts = with_experts && source.router;
    const std::int64_t bytes =
        DeviceLayer::bytes(source, model_.h, l, with_experts ? LayerPart::Whole : LayerPart::WithoutExperts);
    const std::int64_t state_bytes = DeviceStates::bytes(model_.cache.states().layer_bytes(l));
    const std::int64_t scratch_bytes = l == 0 && emulated_ ? layout_.scratch_bytes(1) : 0;
    if (!pager_->make_room(bytes + state_bytes + scratch_bytes, Event::Cause::Split))
        return fail(Error::Code::DeviceFull, "the layer does not fit");
    auto rest = copy_part(l, LayerPart::WithoutExperts);
    if (!rest)
        return tl::unexpected(rest.error());
    LayerOnDevice layer{std::move(*rest)};
    if (with_experts) {
        auto experts = copy_part(l, LayerPart::Experts);
        if (!experts)
            return tl::unexpected(experts.error());
        layer.experts.emplace(std::move(*experts));
    }
    if (Status ok = states_->join(l); !ok)
        return tl::unexpected(ok.error());
    layers_.push_back(std::move(layer));
    join_parts(l);
    pager_->set_layers(layers());
    // It computes in the host's scratch, which counts as its own as long as it computes.
    vram_->count(Vram::Use::Scratch, scratch_bytes);
    return bytes + state_bytes;
}

Result<std::int64_t> OnDevice::copy_experts(int l)
{
    drop_cache(l);
    const std::int64_t bytes =
        DeviceLayer::bytes(model_.weights.layers[std::size_t(l)], model_.h, l, LayerPart::Experts);
    if (!pager_->make_room(bytes, Event::Cause::Split))
        return fail(Error::Code::DeviceFull, "the experts do not fit");
    auto experts = copy_part(l, LayerPart::Experts);
    if (!experts)
        return tl::unexpected(experts.error());
    layers_[std::size_t(l)].experts.emplace(std::move(*experts));
    join_parts(l);
    return bytes;
}

std::int64_t OnDevice::drop_experts(int l)
{
    LayerOnDevice& layer = layers_[std::size_t(l)];
    const std::int64_t bytes = layer.experts->bytes();
    layer.experts.reset();
    join_parts(l);
    return bytes;
}

void OnDevice::drop_cache(int l)
{
    LayerOnDevice& layer = layers_[std::size_t(l)];
    if (!layer.cache)
        return;
    skew_before_ = observed_skew();
    expert_hits_ += layer.cache->hits();
    expert_misses_ += layer.cache->misses();
    layer.cache.reset();
    join_parts(l);
}

Result<bool> OnDevice::lay_out_expert_cache(int host_expert_layers)
{
    const int slots = std::min(layout_.cached_experts(layers(), host_expert_layers), model_.h.experts);
    for (int l = 0; l < layers(); ++l)
        if (const auto& cache = layers_[std::size_t(l)].cache; cache && cache->places() != slots) {
            drop_cache(l);
            return true;
        }
    for (int l = 0; l < layers() && slots > 0; ++l) {
        LayerOnDevice& layer = layers_[std::size_t(l)];
        if (!experts_on_host(l) || layer.cache)
            continue;
        if (layout_.layer(l).expert == 0)
            continue;  // its experts have no copies
        const LayerWeights& on_host = source_of_copies(l);
        if (!pager_->make_room(ExpertCache::slot_bytes(on_host) * slots, Event::Cause::Split))
            return fail(Error::Code::DeviceFull, "the copies of experts do not fit");
        auto cache = ExpertCache::make(*vram_, expert_traffic_, on_host, model_.h.experts, slots);
        if (!cache)
            return tl::unexpected(cache.error());
        layer.cache.emplace(std::move(*cache));
        join_parts(l);
        return true;
    }
    return false;
}

/// Plans whether and how experts come to the device for steps of many rows.
void OnDevice::plan_expert_ring(const MachineRates* rates, const DeviceRates& device)
{
    const std::int64_t largest = layout_.largest_matrix();
    const auto costs = engine::plan_expert_ring(model_.h, model_.weights, rates, device, longest_step_,
                                                host_memory().total_bytes, layout_);
    if (!expert_ring_)
        return;
    if (layout_.largest_matrix() != largest)
        expert_ring_->set_places(0, 0);  // they are of another size
    for (int l = 0; l < int(costs.size()); ++l)
        expert_ring_->set_costs(l, costs[std::size_t(l)]);
}

/// Returns how many places the ring is to have for what lies on the host now.
int OnDevice::expert_ring_places() const
{
    for (int l = 0; l < layers(); ++l)
        if (experts_on_host(l) && layout_.layer(l).matrix > 0)
            return layout_.expert_ring_slots(layout_.num_layers(), layout_.num_layers());
    return 0;
}

Result<bool> OnDevice::lay_out_expert_ring()
{
    const int places = expert_ring_places();
    if (places == expert_ring_->places() || (expert_ring_refused_ && places > 0))
        return false;
    const auto bytes = std::size_t(layout_.largest_matrix());
    const bool room = places == 0 || pager_->make_room(places * layout_.largest_matrix(), Event::Cause::Split);
    if (room && expert_ring_->set_places(places, bytes) == places)
        return true;
    drop_expert_ring();
    return fail(Error::Code::DeviceFull, "the ring for experts does not fit");
}

void OnDevice::drop_expert_ring()
{
    expert_ring_->set_places(0, 0);
    expert_ring_refused_ = true;
}

/// Returns the skew of recent hits: of the caches there are, or else of those that were there before.
std::optional<double> OnDevice::observed_skew() const
{
    constexpr std::int64_t kEnoughUses = 100;  // of each layer
    std::int64_t hits = 0, uses = 0;
    int caches = 0, places = 0;
    for (const LayerOnDevice& layer : layers_) {
        if (!layer.cache)
            continue;
        if (caches > 0 && layer.cache->places() != places)
            return skew_before_;  // some have already changed their room
        hits += layer.cache->settled().hits;
        uses += layer.cache->settled().uses;
        places = layer.cache->places();
        ++caches;
    }
    if (uses < kEnoughUses * std::max(1, caches) || places == 0 || places >= model_.h.experts)
        return skew_before_;
    return engine::observed_skew(double(places) / model_.h.experts, double(hits) / double(uses));
}

void OnDevice::drop_larger_expert_caches(int host_expert_layers)
{
    const int slots = std::min(layout_.cached_experts(layers(), host_expert_layers), model_.h.experts);
    for (int l = 0; l < layers(); ++l)
        if (const auto& cache = layers_[std::size_t(l)].cache;
            cache && (cache->places() > slots || !experts_on_host(l)))
            drop_cache(l);
}

/// Returns the weights that are copied: the file's, or the host's for a device that computes with the host's kernels.
const LayerWeights& OnDevice::source_of_copies(int l) const
{
    return cuda_ ? model_.weights.layers[std::size_t(l)] : model_.host_weights.layer(l);
}

/// Gives the layer's weights the addresses of both parts. A device that computes with the host's cores reads experts on
/// the host; another one leaves them to the host.
void OnDevice::join_parts(int l)
{
    LayerOnDevice& layer = layers_[std::size_t(l)];
    layer.weights = layer.rest.weights();
    const LayerWeights& on_host = model_.host_weights.layer(l);
    if (layer.experts)
        take_expert_stacks(layer.experts->weights(), layer.weights);
    else if (layer.has_experts() && !cuda_)
        take_expert_stacks(on_host, layer.weights);
    else if (layer.has_experts())
        layer.weights.experts_on_host = &on_host;
    ExpertCache* const cache = layer.cache ? &*layer.cache : nullptr;
    if (!cuda_) {
        layer.weights.cached_experts = cache;
        layer.weights.expert_ring = layer.experts ? nullptr : expert_ring_.get();
    } else if (layer.has_experts()) {
        cuda_->set_cached_experts(l, {cache, &source_of_copies(l)});
    }
}

const ExpertCache* OnDevice::expert_cache(int l) const
{
    const auto& cache = layers_[std::size_t(l)].cache;
    return cache ? &*cache : nullptr;
}

int OnDevice::layers_without_experts() const
{
    int count = 0;
    for (int l = 0; l < layers(); ++l)
        count += experts_on_host(l);
    return count;
}

Result<std::int64_t> OnDevice::copy_head()
{
    if (!pager_->make_room(DeviceHead::bytes(model_.weights.head, model_.h, layers()), Event::Cause::Split))
        return fail(Error::Code::DeviceFull, "the output matrix does not fit");
    if (!cuda_)
        model_.host_weights.use_head(model_.cpu.pool());
    auto head = DeviceHead::copy(*vram_, cuda_ ? model_.weights.head : model_.host_weights.head(), model_.h, layers());
    if (!head)
        return tl::unexpected(head.error());
    if (Status ok = head->wait(); !ok)
        return tl::unexpected(ok.error());
    head_.emplace(std::move(*head));
    return head_->bytes();
}

std::int64_t OnDevice::drop_layer()
{
    const LayerOnDevice& last = layers_.back();
    const std::int64_t experts_bytes = last.experts ? last.experts->bytes() : 0;
    const std::int64_t bytes = last.rest.bytes() + experts_bytes + (head_ ? head_->bytes() : 0);
    drop_cache(layers() - 1);
    head_.reset();
    layers_.pop_back();
    pager_->set_layers(layers());
    if (emulated_ && layers() == 0)
        vram_->count(Vram::Use::Scratch, -vram_->used(Vram::Use::Scratch));
    // A device that is lost here is noticed by the next step, and the state then computed again.
    (void)states_->leave(layers());
    return bytes;
}

PlannedPlacement OnDevice::placement(const PlacementOptions& options) const
{
    const kernels::KvBlockLayout& form = model_.cache.layer(0).block;
    const DeviceShare share{.layout = layout_,
                            .budget_bytes = vram_->budget(),
                            .high_mark_bytes = vram_->high_mark(),
                            .policy = options.kv_policy,
                            .offload_share = options.kv_offload_share,
                            .host_expert_layers = options.host_expert_layers,
                            .expert_skew = options.expert_skew.value_or(kExpectedSkew)};
    return {kv_type(form.k_type), kv_type(form.v_type),
            PlannedDevice{share, cuda_ ? DeviceCores::Own : DeviceCores::HostsToo, rates_of(options.rates.get())}};
}

int OnDevice::planned_layers(const PlacementOptions& options) const
{
    return layers_on_device(placement(options).device->share, options.device_layers);
}

DeviceChoice OnDevice::plan(const PlacementOptions& options, int layers, int columns, std::int64_t most_copies)
{
    layout_.set_expert_cache_bytes(std::min(options.expert_cache_bytes.value_or(0), most_copies));
    PlannedPlacement here = placement(options);
    DeviceShare& planned = here.device->share;
    planned.layers = layers;
    if (!options.expert_cache_bytes) {
        const DeviceChoice choice = choose_tenants(model_costs(model_.h, model_.weights), here, options.rates.get(),
                                                   columns, {options.device_layers.has_value(), most_copies});
        layout_.set_expert_cache_bytes(choice.expert_cache_bytes);
        return choice;
    }
    limit_expert_cache(planned);
    layout_.set_expert_cache_bytes(planned.layout.expert_cache_bytes());
    return {layers, host_expert_layers(planned, columns), layout_.expert_cache_bytes()};
}

int OnDevice::step_rows(int rows) const
{
    if (layers() == 0)
        return rows;
    if (layout_.block_row(layers()) == 0)  // none of these layers keeps KV
        return rows;
    const std::int64_t left = vram_->high_mark() - vram_->used() + vram_->used(Vram::Use::Kv);
    const std::int64_t blocks = layout_.step_blocks(layers(), left);
    return int(std::clamp<std::int64_t>(blocks * model_.cache.block_tokens(), 1, rows));
}

/// Returns the rates of the device as it is now; none where another one was measured.
DeviceRates OnDevice::rates_of(const MachineRates* rates, const std::string& device_id) const
{
    const kernels::KvBlockLayout& form = model_.cache.layer(0).block;
    return rates ? rates->device_rates(device_id, cuda_name_, kv_type(form.k_type), kv_type(form.v_type))
                 : DeviceRates();
}

void OnDevice::use_rates(const MachineRates* rates, const RateErrors& errors)
{
    plan_expert_ring(rates, rates_of(rates));
    if (!cuda_) {  // it computes on the host's own cores, and gains nothing by copying what they can read in place
        pager_->set_stream_choice({});
        return;
    }
    const DeviceRates device = rates_of(rates);
    pager_->set_stream_choice(stream_choice(model_, rates, device, layout_.ring_bytes(), errors));
    // A step that came late is computed again, which a model with recurrent states cannot do.
    const bool by_flags = device.joins_by_flags() && !model_.cache.states().any();
    cuda_->set_joining(by_flags ? CudaJoining::Flags : CudaJoining::CutGraphs);
    if (device.multiplies_by_blas())
        cuda_->use_blas(model_.h);
}

bool OnDevice::make_ring()
{
    return stream_->set_slots(layout_.ring_slots(), std::size_t(layout_.largest_block())) > 0 || !cuda_;
}

void OnDevice::try_rings_again()
{
    expert_ring_refused_ = false;
    if (expert_ring_places() == 0)
        expert_ring_->set_places(0, 0);
    if (!cuda_ && stream_->slot_count() < layout_.ring_slots())
        make_ring();
}

void OnDevice::settle()
{
    pager_->settle();
    (void)device_->wait(Device::Direction::ToDevice, expert_traffic_.newest);  // a loss is noticed by the next step
}

Status OnDevice::send_kv_home()
{
    pager_->settle();
    Status status;
    for (int l = 0; l < model_.cache.num_layers(); ++l)
        if (const Status ok = pager_->leave(l); !ok)
            status = ok;
    stream_->set_slots(0, 0);  // the last step may still be reading what is in the ring
    return status;
}

void OnDevice::lay_out_kv()
{
    for (int l = 0; l < model_.cache.num_layers(); ++l)
        layout_.set_kv_block(l, std::int64_t(model_.cache.layer(l).bytes()));
    kv_->forget_layouts();
    if (cuda_)
        cuda_->forget_recordings();
}

void OnDevice::attach()
{
    model_.cache.set_device(kv_.get(), stream_.get(), states_.get());
    model_.cache.make_ahead(longest_step_ / model_.cache.block_tokens() + 1);
}

DeviceTelemetry OnDevice::telemetry() const
{
    DeviceTelemetry t;
    t.id = id();
    t.layers = layers();
    t.layers_without_experts = layers_without_experts();
    for (int l = 0; l < layers(); ++l)
        if (experts_on_host(l))
            t.host_expert_layers = std::max(t.host_expert_layers, layout_.rank(l) + 1);
    t.expert_layers =
        int(std::ranges::count_if(model_.weights.layers, [](const LayerWeights& w) { return bool(w.router); }));
    t.total_bytes = device_->total_bytes();
    t.other_programs_bytes = device_->other_programs_bytes();
    t.spilled_bytes = device_->spilled_bytes();
    t.budget_bytes = vram_->budget();
    t.watermark_bytes = vram_->high_mark();
    t.expert_cache_bytes = vram_->used(Vram::Use::ExpertCache);
    t.weight_bytes = vram_->used(Vram::Use::Weights) + t.expert_cache_bytes;
    t.expert_hits = expert_hits_;
    t.expert_misses = expert_misses_;
    for (const LayerOnDevice& layer : layers_)
        if (layer.cache) {
            t.cached_experts = layer.cache->places();
            t.expert_hits += layer.cache->hits();
            t.expert_misses += layer.cache->misses();
        }
    t.kv_bytes = vram_->used(Vram::Use::Kv);
    t.kv_ahead_bytes = vram_->used(Vram::Use::KvAhead);
    t.state_bytes = vram_->used(Vram::Use::State);
    t.ring_bytes = vram_->used(Vram::Use::Ring);
    t.scratch_bytes = vram_->used(Vram::Use::Scratch);
    t.to_device_bytes = device_->bytes_moved(Device::Direction::ToDevice);
    t.to_host_bytes = device_->bytes_moved(Device::Direction::ToHost);
    t.kv_blocks = kv_->blocks();
    t.expert_streamed_bytes = expert_ring_->brought_bytes();
    t.step_streamed_bytes = pager_->streamed_bytes();
    t.step_attended_on_host_bytes = pager_->attended_on_host_bytes();
    return t;
}

}  // namespace engine
