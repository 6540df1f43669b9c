// What the engine does when it is asked for something.
#include "engine/metrics/host_probe.h"
#include "engine/run/local_engine.h"

#include <algorithm>

namespace engine {

void LocalEngine::carry_out(const SetThreads& command, Event& answer)
{
    answer.ok = model_ && command.threads >= 0 && command.threads <= 1024;
    if (!answer.ok) {
        answer.sentence = model_ ? "the number of threads must be between 1 and 1024" : "no model is loaded";
        return;
    }
    const int threads = command.threads > 0 ? command.threads : physical_cores();
    model_->cpu().set_threads(threads);
    answer.sentence = "the engine uses " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

template <class Ask>
void LocalEngine::ask_placement(Event& answer, const Ask& ask)
{
    const Status done = model_ ? ask(model_->placement()) : fail(Error::Code::NotLoaded, "no model is loaded");
    answer.ok = done.has_value();
    placement_changed_ = placement_changed_ || answer.ok;
    if (!done)
        answer.sentence = done.error().what;
}

void LocalEngine::carry_out(const SetDeviceLayers& command, Event& answer)
{
    ask_placement(answer, [&](ModelPlacement& placement) { return placement.want_layers(command.layers); });
}

void LocalEngine::carry_out(const SetVramBudget& command, Event& answer)
{
    ask_placement(answer, [&](ModelPlacement& placement) { return placement.set_budget(command.bytes); });
}

void LocalEngine::carry_out(const SetWatermark& command, Event& answer)
{
    ask_placement(answer, [&](ModelPlacement& placement) { return placement.set_watermark(command.share); });
}

void LocalEngine::carry_out(const SetKvPolicy& command, Event& answer)
{
    ask_placement(answer, [&](ModelPlacement& placement) { return placement.set_policy(command.policy); });
}

void LocalEngine::carry_out(const SetKvOffloadShare& command, Event& answer)
{
    ask_placement(answer, [&](ModelPlacement& placement) { return placement.set_offload_share(command.share); });
}

void LocalEngine::carry_out(const SetKvTypes& command, Event& answer)
{
    if (model_ && model_->has_kv_types(command.k_type, command.v_type))
        return;
    ask_placement(answer, [&](ModelPlacement&) -> Status {
        if (Status ok = model_->may_set_kv_types(command.k_type, command.v_type); !ok)
            return ok;
        saved_.release_all(*model_, kGraceForSaving);  // what is being written is read from the pages
        return model_->set_kv_types(command.k_type, command.v_type);
    });
}

/// Nobody asked for them: there is nothing to refuse.
void LocalEngine::carry_out(const SetRates& command, Event&)
{
    if (model_)
        model_->placement().set_rates(command.rates);
}

/// They stay with their conversation.
void LocalEngine::carry_out(const SetPins& command, Event& answer)
{
    ask_placement(answer, [&](ModelPlacement& placement) -> Status {
        const auto conversation = conversations_.find(last_run_);
        if (conversation == conversations_.end())
            return fail(Error::Code::BadRequest, "there is no conversation yet whose tokens could be kept");
        if (std::ranges::any_of(command.tokens, [](const TokenRange& r) { return r.first < 0 || r.last < r.first; }))
            return fail(Error::Code::BadRequest, "no conversation has such tokens");
        Status done = placement.set_pins(command.tokens);
        if (done)
            conversation->second.pins = command.tokens;
        return done;
    });
}

void LocalEngine::carry_out(const SetDevice& command, Event& answer)
{
    ask_placement(answer, [&](ModelPlacement&) -> Status {
        const auto last = conversations_.find(last_run_);
        KvInUse in_use;
        if (last != conversations_.end())
            in_use = {last->second.kv.pages, last->second.kv.length(), last->second.pins};
        return model_->change_device(command.placement, std::move(in_use));
    });
}

void LocalEngine::carry_out(const SetOtherPrograms& command, Event& answer)
{
    ask_placement(answer, [&](ModelPlacement& placement) { return placement.set_other_programs(command.bytes); });
}

void LocalEngine::carry_out(const SetSavedKv& command, Event& answer)
{
    const Status done = saved_.use(command, [this] {
        if (on_posted)
            on_posted();
    });
    answer.ok = done.has_value();
    if (!done)
        answer.sentence = done.error().what;
}

void LocalEngine::carry_out(const ForgetSavedKv& command, Event&)
{
    saved_.forget(command.saved_as);
}

void LocalEngine::carry_out(const KeepSavedKv& command, Event&)
{
    saved_.keep_only(command.saved_as);
}

void LocalEngine::carry_out(const CancelLoad&, Event& answer)
{
    answer.ok = loading_;
    cancel_load_ = loading_;
    answer.sentence = loading_ ? "loading stops" : "nothing is being loaded";
}

}  // namespace engine
