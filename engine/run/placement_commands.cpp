// What may be asked of a model's placement between steps: the split, the budget, how KV is kept and where.
#include "engine/run/model_placement.h"

#include "engine/metrics/clock.h"

#include <algorithm>

namespace engine {

/// "f16", or "q8_0 and f16" for keys and values.
static std::string names_of(const kernels::KvBlockLayout& block)
{
    const auto name = [](kernels::KvType type) -> std::string {
        return type == kernels::KvType::F32 ? "f32" : type == kernels::KvType::F16 ? "f16" : "q8_0";
    };
    return block.k_type == block.v_type ? name(block.k_type) : name(block.k_type) + " and " + name(block.v_type);
}

Status ModelPlacement::need_device() const
{
    if (!device_)
        return fail(Error::Code::BadRequest, "the model is computed on the cpu alone: there is no device to speak of");
    return {};
}

Status ModelPlacement::apply(const PlacementCommand& command)
{
    if (Status ok = need_device(); !ok)
        return ok;
    return std::visit([this](const auto& one) { return carry_out(one); }, command);
}

Status ModelPlacement::carry_out(const SetDeviceLayers& command)
{
    if (command.layers && *command.layers < 0)
        return fail(Error::Code::BadRequest, "a device cannot hold less than no layer");
    next_.reset();
    options_.device_layers = command.layers;
    want_planned_layers();
    returning_ = Event::Cause::Split;
    return {};
}

void ModelPlacement::want_planned_layers()
{
    wanted_ = planned_layers();
    const int asked = std::min(options_.device_layers.value_or(0), cache_.num_layers());
    if (wanted_ < asked)
        note(Event::Kind::Warning, Event::Cause::Split,
             "only " + std::to_string(wanted_) + " of the " + std::to_string(asked) +
                 " layers asked for find room on the device " + std::string(device_->id()));
}

/// What a plan of the present choices says: the same, whatever lay on the device before.
int ModelPlacement::planned_layers() const
{
    return layers_on_device(
        {layout_, 0, vram_->budget(), vram_->high_mark(), options_.kv_policy, options_.kv_offload_share},
        options_.device_layers);
}

Status ModelPlacement::carry_out(const SetVramBudget& command)
{
    if (command.bytes < 0)
        return fail(Error::Code::BadRequest, "a budget cannot be less than nothing");
    options_.vram_budget_bytes = command.bytes;
    vram_->set_limit(command.bytes);
    relieve(Event::Cause::User);
    return {};
}

Status ModelPlacement::carry_out(const SetOtherPrograms& command)
{
    if (command.bytes < 0)
        return fail(Error::Code::BadRequest, "other programs cannot hold less than nothing");
    if (!emulated_)
        return fail(Error::Code::BadRequest, "what other programs hold can be set on the emulated device only");
    emulated_->set_other_programs_bytes(command.bytes);
    relieve(Event::Cause::OtherProgram);
    return {};
}

Status ModelPlacement::carry_out(const SetWatermark& command)
{
    if (!(command.share >= 0.1 && command.share <= 1.0))
        return fail(Error::Code::BadRequest, "the watermark must be between 10 and 100 percent of the budget");
    options_.watermark = command.share;
    vram_->set_watermark(command.share);
    relieve(Event::Cause::User);
    return {};
}

Status ModelPlacement::carry_out(const SetKvPolicy& command)
{
    options_.kv_policy = command.policy;
    pager_->set_policy(command.policy);
    drop_host_copies();
    return {};
}

Status ModelPlacement::carry_out(const SetKvOffloadShare& command)
{
    if (!(command.share >= 0 && command.share <= 1))
        return fail(Error::Code::BadRequest, "between 0 and 100 percent of the KV cache can lie on the host");
    options_.kv_offload_share = command.share;
    pager_->set_offload_share(command.share);
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
    return cuda_ || (next_ && next_->cuda) ? CudaBackend::supports(h_, shapes) : Status();
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
    {
        const ThreadPool::Step step(cpu_.pool());
        cache_.set_types(k_type, v_type,
                         [this](const KvLayerShape& from, const std::byte* old, const KvLayerShape& to,
                                std::byte* block) { cpu_.rewrite_kv(from, old, to, block); });
    }
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
}

/// What is held is what the budget's plan says: layers that it does not have leave at once, then KV; with room, things
/// come back. KV that must stay, as under `resident`, drives out layers.
void ModelPlacement::relieve(Event::Cause cause)
{
    returning_ = cause;
    set_layer_flags(true);
    pager_->trim_windows();
    wanted_ = planned_layers();
    while (layers() > wanted_)
        move_to_host(layers() - 1, cause);
    if (!cuda_ && stream_->slot_count() < layout_.ring_slots())
        make_ring();
    while (!pager_->make_room(0, cause) && vram_->used() > vram_->budget() && layers() > 0) {
        move_to_host(layers() - 1, cause);
        wanted_ = layers();
    }
}

}  // namespace engine
