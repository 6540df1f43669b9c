#include "engine/run/engine_commands.h"

#include "engine/metrics/host_probe.h"

#include <algorithm>

namespace engine {

void EngineCommands::carry_out(const Command& command, Event& answer)
{
    std::visit([&](const auto& one) { carry_out(one, answer); }, command);
}

void EngineCommands::carry_out(const SetThreads& command, Event& answer)
{
    answer.ok = state_.model && command.threads >= 0 && command.threads <= 1024;
    if (!answer.ok) {
        answer.sentence = state_.model ? "the number of threads must be between 1 and 1024" : "no model is loaded";
        return;
    }
    const int threads = command.threads > 0 ? command.threads : physical_cores();
    state_.model->cpu().set_threads(threads);
    if (state_.draft)
        state_.draft->set_threads(threads);
    answer.sentence = "the engine uses " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

template <class Ask>
void EngineCommands::ask_placement(Event& answer, const Ask& ask)
{
    const Status done =
        state_.model ? ask(state_.model->placement()) : fail(Error::Code::NotLoaded, "no model is loaded");
    answer.ok = done.has_value();
    state_.placement_changed = state_.placement_changed || answer.ok;
    if (!done)
        answer.sentence = done.error().what;
}

void EngineCommands::carry_out(const PlacementCommand& command, Event& answer)
{
    ask_placement(answer, [&](ModelPlacement& placement) { return placement.apply(command); });
}

void EngineCommands::carry_out(const SetKvTypes& command, Event& answer)
{
    if (state_.model && state_.model->has_kv_types(command.k_type, command.v_type))
        return;
    ask_placement(answer, [&](ModelPlacement&) -> Status {
        if (Status ok = state_.model->may_set_kv_types(command.k_type, command.v_type); !ok)
            return ok;
        state_.saved.release_all(*state_.model, kGraceForSaving);  // pages that are being written are read meanwhile
        return state_.model->set_kv_types(command.k_type, command.v_type);
    });
}

/// Takes new rates. The program posts them by itself, so they are never refused.
void EngineCommands::carry_out(const SetRates& command, Event&)
{
    if (state_.model)
        state_.model->placement().set_rates(command.rates);
}

/// Pins these tokens and remembers them for the conversation's later turns.
void EngineCommands::carry_out(const SetPins& command, Event& answer)
{
    ask_placement(answer, [&](ModelPlacement& placement) -> Status {
        Conversation* const conversation =
            command.sequence == 0 ? state_.conversations.last() : state_.conversations.find(command.sequence);
        if (!conversation)
            return fail(Error::Code::BadRequest, "there is no such conversation whose tokens could be kept");
        if (std::ranges::any_of(command.tokens, [](const TokenRange& r) { return r.first < 0 || r.last < r.first; }))
            return fail(Error::Code::BadRequest, "no conversation has such tokens");
        Status done = placement.set_pins(conversation->kv, command.tokens);
        if (done)
            conversation->pins = command.tokens;
        return done;
    });
}

void EngineCommands::carry_out(const SetDevice& command, Event& answer)
{
    ask_placement(answer, [&](ModelPlacement&) -> Status {
        KvInUse in_use;
        if (const Conversation* last = state_.conversations.last())
            in_use = {last->kv.pages, last->kv.length(), last->pins};
        return state_.model->change_device(command.placement, std::move(in_use));
    });
}

void EngineCommands::carry_out(const SetSavedKv& command, Event& answer)
{
    const Status done = state_.saved.use(command, wake_);
    answer.ok = done.has_value();
    if (!done)
        answer.sentence = done.error().what;
}

void EngineCommands::carry_out(const ForgetSavedKv& command, Event&)
{
    state_.saved.forget(command.saved_as);
}

void EngineCommands::carry_out(const KeepSavedKv& command, Event&)
{
    state_.saved.keep_only(command.saved_as);
}

void EngineCommands::carry_out(const CancelLoad&, Event& answer)
{
    answer.ok = state_.loading;
    state_.cancel_load = state_.loading;
    answer.sentence = state_.loading ? "loading stops" : "nothing is being loaded";
}

}  // namespace engine
