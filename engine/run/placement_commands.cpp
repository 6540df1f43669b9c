#include "engine/run/placement_commands.h"

#include "engine/run/placement_checks.h"

#include <utility>

namespace engine {

/// Changes the options, unless the new ones make no sense.
template <class Change>
Status ModelPlacement::CarryOut::choose(const Change& change) const
{
    PlacementOptions wish = to.options_;
    change(wish);
    if (Status ok = check(wish); !ok)
        return ok;
    to.options_ = std::move(wish);
    return {};
}

Status ModelPlacement::CarryOut::operator()(const SetDeviceLayers& command) const
{
    if (Status ok = choose([&](PlacementOptions& options) { options.device_layers = command.layers; }); !ok)
        return ok;
    to.next_.reset();
    to.want_planned_layers();
    to.returning_ = Event::Cause::Split;
    return {};
}

Status ModelPlacement::CarryOut::operator()(const SetHostExperts& command) const
{
    if (Status ok = choose([&](PlacementOptions& options) { options.host_expert_layers = command.layers; }); !ok)
        return ok;
    if (to.next_)
        to.next_->options.host_expert_layers = command.layers;
    else
        to.want_planned_layers();
    to.returning_ = Event::Cause::Split;
    return {};
}

Status ModelPlacement::CarryOut::operator()(const SetExpertCache& command) const
{
    if (Status ok = choose([&](PlacementOptions& options) { options.expert_cache_bytes = command.bytes; }); !ok)
        return ok;
    to.experts_.try_copies_again();
    if (to.next_)
        to.next_->options.expert_cache_bytes = command.bytes;
    else
        to.want_planned_layers();
    to.returning_ = Event::Cause::Split;
    return {};
}

Status ModelPlacement::CarryOut::operator()(const SetVramBudget& command) const
{
    if (command.bytes < 0)
        return fail(Error::Code::BadRequest, "a budget cannot be less than nothing");
    to.options_.vram_budget_bytes = command.bytes;
    if (to.next_) {
        to.next_->options.vram_budget_bytes = command.bytes;
        if (to.next_->device)
            to.next_->device->vram().set_limit(command.bytes);
    }
    to.experts_.try_copies_again();
    to.on_device_->vram().set_limit(command.bytes);
    to.relieve(Event::Cause::User);
    return {};
}

Status ModelPlacement::CarryOut::operator()(const SetOtherPrograms& command) const
{
    if (command.bytes < 0)
        return fail(Error::Code::BadRequest, "other programs cannot hold less than nothing");
    if (!to.on_device_->emulated())
        return fail(Error::Code::BadRequest, "what other programs hold can be set on the emulated device only");
    to.on_device_->emulated()->set_other_programs_bytes(command.bytes);
    to.experts_.try_copies_again();
    to.relieve(Event::Cause::OtherProgram);
    return {};
}

Status ModelPlacement::CarryOut::operator()(const SetWatermark& command) const
{
    if (Status ok = choose([&](PlacementOptions& options) { options.watermark = command.share; }); !ok)
        return ok;
    to.on_device_->vram().set_watermark(command.share);
    to.relieve(Event::Cause::User);
    return {};
}

Status ModelPlacement::CarryOut::operator()(const SetKvPolicy& command) const
{
    to.options_.kv_policy = command.policy;
    to.on_device_->pager().set_policy(command.policy);
    to.drop_host_copies();
    return {};
}

Status ModelPlacement::CarryOut::operator()(const SetKvOffloadShare& command) const
{
    if (Status ok = choose([&](PlacementOptions& options) { options.kv_offload_share = command.share; }); !ok)
        return ok;
    to.on_device_->pager().set_offload_share(command.share);
    to.returning_ = Event::Cause::User;
    return {};
}

}  // namespace engine
