// How a placement leaves its device for another one, between steps and with the conversations that there are.
#include "engine/metrics/clock.h"
#include "engine/plan/columns.h"
#include "engine/run/model_placement.h"

#include <utility>

namespace engine {

namespace {

/// What a change of the device chooses anew; the rest stays as it is.
void take_device(const PlacementOptions& from, PlacementOptions& to)
{
    to.device = from.device;
    to.cuda_ordinal = from.cuda_ordinal;
    to.emulated = from.emulated;
    to.device_layers = from.device_layers;
    to.vram_budget_bytes = from.vram_budget_bytes;
    to.budget_fit_tokens = from.budget_fit_tokens;
}

}  // namespace

std::string ModelPlacement::device_name() const
{
    return device_ ? std::string(device_->id()) : "cpu";
}

/// Whether the device that is wished for is the one there is.
bool ModelPlacement::is_open(const PlacementOptions& wish) const
{
    using Kind = PlacementOptions::Device;
    if (!device_)
        return wish.device == Kind::Cpu;  // a device that was lost is opened anew
    if (wish.device != options_.device)
        return false;
    return wish.device == Kind::Cuda ? wish.cuda_ordinal == options_.cuda_ordinal : wish.emulated == options_.emulated;
}

Status ModelPlacement::change_device(const PlacementOptions& wish, const StepLimits& limits, KvInUse in_use)
{
    PlacementOptions options = options_;
    take_device(wish, options);
    if (Status ok = check(options); !ok)
        return ok;
    if (is_open(wish)) {
        next_.reset();
        options_ = options;
        if (!device_)
            return {};
        (void)apply(SetVramBudget{limit_bytes(options, layout_)});
        return apply(SetDeviceLayers{options.device_layers});
    }
    auto opened = open_device(options, limits);
    if (!opened)
        return tl::unexpected(opened.error());
    next_.emplace(std::move(*opened));
    in_use_ = std::move(in_use);
    return {};
}

/// All layers are on the host, and with them all KV.
void ModelPlacement::change_over()
{
    Event event;
    event.kind = Event::Kind::DeviceChanged;
    event.cause = Event::Cause::User;
    event.time_us = now_us();
    event.sentence = device_name() + " → ";
    events_ = take_events();  // what came before comes first
    OpenedDevice next = std::move(*std::exchange(next_, std::nullopt));
    close();
    take_device(next.options, options_);
    adopt(std::move(next));
    if (device_) {
        lay_out_kv();  // its types may be others since
        pager_->begin_turn(in_use_.pins);
        pager_->use(in_use_.pages, in_use_.tokens);
    }
    returning_ = Event::Cause::User;
    event.duration_us = now_us() - event.time_us;
    event.sentence += device_name();
    events_.push_back(std::move(event));
}

}  // namespace engine
