#include "engine/run/model_placement.h"

#include "engine/run/clock.h"

#include <algorithm>
#include <iterator>

namespace engine {

/// "f16", or "q8_0 and f16" for keys and values.
static std::string names_of(const kernels::KvBlockLayout& block)
{
    const auto name = [](kernels::KvType type) -> std::string {
        return type == kernels::KvType::F32 ? "f32" : type == kernels::KvType::F16 ? "f16" : "q8_0";
    };
    return block.k_type == block.v_type ? name(block.k_type) : name(block.k_type) + " and " + name(block.v_type);
}

ModelPlacement::ModelPlacement(const Hyperparameters& h, const Weights& weights, HostWeights& host_weights,
                               CpuBackend& cpu, KvCache& cache)
    : h_(h)
    , weights_(weights)
    , host_weights_(host_weights)
    , cpu_(cpu)
    , cache_(cache)
    , layout_({}, cache.block_tokens(), 0, DeviceLayout::Road::Copies)
    , host_(host_weights, cpu)
    , split_(host_weights, cpu)
{
}

ModelPlacement::~ModelPlacement()
{
    cache_.set_device(nullptr, nullptr);
}

int ModelPlacement::step_rows(int rows) const
{
    if (!device_ || layers() == 0)
        return rows;
    const std::int64_t left =
        vram_->high_mark() - vram_->used() + vram_->used(Vram::Use::Kv) - layout_.windows(layers());
    // The first block stays, and a step that begins within a block touches one more than it fills.
    const std::int64_t blocks = left / layout_.block_row(layers()) - 2;
    return int(std::clamp<std::int64_t>(blocks * cache_.block_tokens(), 1, rows));
}

Status ModelPlacement::need_device() const
{
    if (!device_)
        return fail(Error::Code::BadRequest, "the model is computed on the cpu alone: there is no device to speak of");
    return {};
}

void ModelPlacement::begin_turn(std::vector<TokenRange> pins)
{
    returning_ = Event::Cause::Watermark;  // what was asked for before has come
    if (pager_)
        pager_->begin_turn(std::move(pins));
}

/// Which copies the next step uses.
void ModelPlacement::set_layer_flags(bool on_device)
{
    for (int l = 0; l < cache_.num_layers(); ++l)
        cache_.set_on_device(l, on_device && l < layers());
}

Status ModelPlacement::prepare(const KvSequence& sequence, int first, int count)
{
    on_host_ = !device_ || (options_.kv_policy == KvPolicy::CpuDecode && count == 1);
    use_host_weights();
    if (!device_)
        return {};
    set_layer_flags(!on_host_);
    return on_host_ ? pager_->prepare_on_host(sequence, first, count) : pager_->prepare(sequence, first, count);
}

/// Of what the device computes alone.
void ModelPlacement::drop_host_copies()
{
    if (options_.kv_policy == KvPolicy::CpuDecode)
        return;  // the host computes it, too
    for (int l = 0; l < layers(); ++l)
        host_weights_.drop_layer(l);
    if (head_)
        host_weights_.drop_head();
}

void ModelPlacement::ready_host()
{
    on_host_ = !device_ || options_.kv_policy == KvPolicy::CpuDecode;
    use_host_weights();
}

/// What the step in preparation computes on the host is as its kernels like it best.
void ModelPlacement::use_host_weights()
{
    for (int l = on_host_ ? 0 : layers(); l < host_weights_.layers(); ++l)
        host_weights_.use_layer(l, cpu_.pool());
    if (placement().head_on_host())
        host_weights_.use_head(cpu_.pool());
}

Status ModelPlacement::finish(const KvSequence& sequence, int first, int count)
{
    Status done = device_ && !on_host_ ? backend().take_status() : Status();
    if (done && device_ && !on_host_)
        done = pager_->finish(sequence, first, count);
    if (std::string warning = cuda_ ? cuda_->take_warning() : std::string(); !warning.empty())
        note(Event::Kind::Warning, Event::Cause::None, std::move(warning));
    if (device_)
        set_layer_flags(true);
    return done;
}

Status ModelPlacement::want_layers(std::optional<int> layers)
{
    if (Status ok = need_device(); !ok)
        return ok;
    if (layers && *layers < 0)
        return fail(Error::Code::BadRequest, "a device cannot hold less than no layer");
    options_.device_layers = layers;
    wanted_ = layers ? std::min(*layers, cache_.num_layers()) : layers_that_fit();
    returning_ = Event::Cause::Split;
    return {};
}

Status ModelPlacement::set_budget(std::int64_t bytes)
{
    if (Status ok = need_device(); !ok)
        return ok;
    if (bytes < 0)
        return fail(Error::Code::BadRequest, "a budget cannot be less than nothing");
    options_.vram_budget_bytes = bytes;
    vram_->set_limit(bytes);
    relieve(Event::Cause::User);
    return {};
}

Status ModelPlacement::set_other_programs(std::int64_t bytes)
{
    if (Status ok = need_device(); !ok)
        return ok;
    if (bytes < 0)
        return fail(Error::Code::BadRequest, "other programs cannot hold less than nothing");
    if (!emulated_)
        return fail(Error::Code::BadRequest, "what other programs hold can be set on the emulated device only");
    emulated_->set_other_programs_bytes(bytes);
    relieve(Event::Cause::OtherProgram);
    return {};
}

Status ModelPlacement::set_watermark(double share)
{
    if (Status ok = need_device(); !ok)
        return ok;
    if (!(share >= 0.1 && share <= 1.0))
        return fail(Error::Code::BadRequest, "the watermark must be between 10 and 100 percent of the budget");
    options_.watermark = share;
    vram_->set_watermark(share);
    relieve(Event::Cause::User);
    return {};
}

Status ModelPlacement::set_policy(KvPolicy policy)
{
    if (Status ok = need_device(); !ok)
        return ok;
    options_.kv_policy = policy;
    pager_->set_policy(policy);
    drop_host_copies();
    return {};
}

Status ModelPlacement::set_offload_share(double share)
{
    if (Status ok = need_device(); !ok)
        return ok;
    if (!(share >= 0 && share <= 1))
        return fail(Error::Code::BadRequest, "between 0 and 100 percent of the KV cache can lie on the host");
    options_.kv_offload_share = share;
    pager_->set_offload_share(share);
    returning_ = Event::Cause::User;
    return {};
}

Status ModelPlacement::set_pins(std::vector<TokenRange> pins)
{
    if (Status ok = need_device(); !ok)
        return ok;
    pager_->set_pins(std::move(pins));
    ++kv_changes_;
    return {};
}

void ModelPlacement::set_rates(std::shared_ptr<const MachineRates> rates)
{
    options_.rates = std::move(rates);
    if (device_)
        use_rates();
}

Status ModelPlacement::may_set_kv_types(kernels::KvType k_type, kernels::KvType v_type) const
{
    std::vector<KvLayerShape> shapes(cache_.layers().begin(), cache_.layers().end());
    for (KvLayerShape& shape : shapes) {
        shape.block.k_type = k_type;
        shape.block.v_type = v_type;
    }
    return cuda_ ? CudaBackend::supports(h_, shapes) : Status();
}

void ModelPlacement::set_kv_types(kernels::KvType k_type, kernels::KvType v_type)
{
    Event event;
    event.kind = Event::Kind::KvRewritten;
    event.cause = Event::Cause::User;
    event.time_us = now_us();
    event.sentence = names_of(cache_.layer(0).block);
    if (const Status ok = device_ ? send_all_kv_home() : Status(); !ok)
        lose(ok.error());
    events_ = take_events();  // what came before comes first
    cpu_.pool().begin_step();
    cache_.set_types(k_type, v_type,
                     [this](const KvLayerShape& from, const std::byte* old, const KvLayerShape& to, std::byte* block) {
                         cpu_.rewrite_kv(from, old, to, block);
                     });
    cpu_.pool().end_step();
    ++kv_changes_;
    event.blocks = cache_.used_pages() * cache_.num_layers();
    event.bytes = std::int64_t(cache_.used_pages()) * std::int64_t(cache_.page_bytes());
    event.duration_us = now_us() - event.time_us;
    event.sentence += " → " + names_of(cache_.layer(0).block);
    events_.push_back(std::move(event));
    if (device_)
        lay_out_kv();
}

Status ModelPlacement::send_all_kv_home()
{
    pager_->settle();
    Status status;
    for (int l = 0; l < cache_.num_layers(); ++l)
        if (const Status ok = pager_->leave(l); !ok)
            status = ok;
    stream_->set_slots(0, 0);  // the last step may still be reading what was on its way there
    return status;
}

/// The device's KV is empty, and its blocks have another size.
void ModelPlacement::lay_out_kv()
{
    for (int l = 0; l < cache_.num_layers(); ++l)
        layout_.set_kv_block(l, std::int64_t(cache_.layer(l).bytes()));
    if (cuda_)
        cuda_->forget_recordings();
    while (!make_ring() && layers() > 0)
        move_to_host(layers() - 1, Event::Cause::User);
    use_rates();
    relieve(Event::Cause::User);
    // Another number of them may fit now. Under `resident` a further one could take the place of KV that must be there.
    if (options_.kv_policy != KvPolicy::Resident)
        (void)want_layers(options_.device_layers);
    returning_ = Event::Cause::User;
}

/// What is held fits the budget again, at once: first KV leaves, then layers. With room, things may come back.
void ModelPlacement::relieve(Event::Cause cause)
{
    returning_ = cause;
    set_layer_flags(true);
    while (!pager_->make_room(0, cause) && vram_->used() > vram_->budget() && layers() > 0)
        move_to_host(layers() - 1, cause);
    wanted_ = std::min(options_.device_layers.value_or(cache_.num_layers()), std::max(layers(), layers_that_fit()));
}

bool ModelPlacement::advance()
{
    if (!device_)
        return false;
    set_layer_flags(true);
    if (layers() > wanted_) {
        move_to_host(layers() - 1, Event::Cause::Split);
        return true;
    }
    if (layers() < wanted_) {
        if (const Status moved = move_to_device(layers()); !moved) {
            if (moved.error().code == Error::Code::DeviceLost) {
                lose(moved.error());
                return false;
            }
            note(Event::Kind::Warning, Event::Cause::Split,
                 "only " + std::to_string(layers()) + " of the " + std::to_string(wanted_) +
                     " layers asked for find room on the device " + std::string(device_->id()));
            wanted_ = layers();
        }
        return true;
    }
    return pager_->bring_back(returning_);
}

void ModelPlacement::settle()
{
    if (pager_)
        pager_->settle();
}

Status ModelPlacement::move_to_device(int l)
{
    Event event;
    event.kind = Event::Kind::LayerMove;
    event.cause = Event::Cause::Split;
    event.time_us = now_us();
    event.layer = l;
    if (!cuda_)
        host_weights_.use_layer(l, cpu_.pool());  // the device computes with the host's kernels
    const LayerWeights& on_host = cuda_ ? weights_.layers[std::size_t(l)] : host_weights_.layer(l);
    event.bytes = DeviceLayer::bytes(on_host, h_, l);
    if (!pager_->make_room(event.bytes, Event::Cause::Split))
        return fail(Error::Code::DeviceFull, "the layer does not fit");
    auto layer = DeviceLayer::copy(*vram_, on_host, h_, l);
    if (!layer)
        return tl::unexpected(layer.error());
    if (Status ok = layer->wait(); !ok)
        return ok;
    layers_.push_back(std::move(*layer));
    ++kv_changes_;
    split_.place(l, backend(), layers_.back().weights());
    drop_host_copies();
    set_layer_flags(true);
    const auto kv = pager_->join(l);
    if (!kv && kv.error().code == Error::Code::DeviceLost)
        return tl::unexpected(kv.error());
    event.blocks = kv.value_or(0);
    event.bytes += std::int64_t(event.blocks) * std::int64_t(cache_.layer(l).bytes());
    if (layers() == cache_.num_layers()) {
        Status head = move_head();
        if (!head && head.error().code == Error::Code::DeviceLost)
            return head;
        if (head)
            event.bytes += head_->bytes();
    }
    event.duration_us = now_us() - event.time_us;
    event.sentence = "layer " + std::to_string(l) + " moved to the device";
    events_.push_back(std::move(event));
    return {};
}

/// With the last layer goes what follows it. DeviceFull: it stays on the host, which costs speed only.
Status ModelPlacement::move_head()
{
    if (!pager_->make_room(DeviceHead::bytes(weights_.head, h_, layers()), Event::Cause::Split))
        return fail(Error::Code::DeviceFull, "the output matrix does not fit");
    if (!cuda_)
        host_weights_.use_head(cpu_.pool());
    auto head = DeviceHead::copy(*vram_, cuda_ ? weights_.head : host_weights_.head(), h_, layers());
    if (!head)
        return tl::unexpected(head.error());
    if (Status ok = head->wait(); !ok)
        return ok;
    head_.emplace(std::move(*head));
    split_.place_head(backend(), head_->weights());
    drop_host_copies();
    return {};
}

void ModelPlacement::move_to_host(int l, Event::Cause cause)
{
    Event event;
    event.kind = Event::Kind::LayerMove;
    event.cause = cause;
    event.time_us = now_us();
    event.layer = l;
    event.bytes = layers_.back().bytes() + (head_ ? head_->bytes() : 0);
    split_.place_head(cpu_, host_weights_.head());
    head_.reset();
    // A device that is lost here is noticed by the next step.
    (void)pager_->leave(l);
    split_.place(l, cpu_, host_weights_.layer(l));
    layers_.pop_back();
    ++kv_changes_;
    set_layer_flags(true);
    event.duration_us = now_us() - event.time_us;
    event.sentence = "layer " + std::to_string(l) + " moved to the host";
    events_.push_back(std::move(event));
}

bool ModelPlacement::give_up_layer()
{
    if (layers() == 0)
        return false;
    move_to_host(layers() - 1, Event::Cause::Watermark);
    wanted_ = layers();
    return true;
}

void ModelPlacement::lose(const Error& error)
{
    pager_->mark_lost();
    std::ranges::move(pager_->take_events(), std::back_inserter(events_));
    close();
    note(Event::Kind::DeviceLost, Event::Cause::DeviceLost, error.what + "; the model goes on from the host's memory");
}

void ModelPlacement::close()
{
    kv_changes_ = kv_changes() + 1;
    cache_.set_device(nullptr, nullptr);
    split_ = Placement(host_weights_, cpu_);
    set_layer_flags(false);
    layers_.clear();
    head_.reset();
    stream_.reset();
    device_kv_.reset();
    pager_.reset();
    cuda_.reset();
    vram_.reset();
    emulated_ = nullptr;
    device_.reset();
    wanted_ = 0;
    on_host_ = true;
}

std::vector<Event> ModelPlacement::take_events()
{
    if (pager_)
        std::ranges::move(pager_->take_events(), std::back_inserter(events_));
    return std::exchange(events_, {});
}

void ModelPlacement::note(Event::Kind kind, Event::Cause cause, std::string sentence)
{
    Event event;
    event.kind = kind;
    event.cause = cause;
    event.time_us = now_us();
    event.sentence = std::move(sentence);
    events_.push_back(std::move(event));
}

}  // namespace engine
