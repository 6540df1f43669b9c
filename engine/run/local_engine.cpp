#include "engine/run/local_engine.h"

#include "engine/caught.h"
#include "engine/metrics/clock.h"
#include "engine/metrics/host_probe.h"
#include "engine/run/events.h"

#include <algorithm>
#include <limits>
#include <random>

namespace engine {

namespace {

/// True for as long as something goes on, however it ends.
class During
{
public:
    explicit During(bool& flag)
        : flag_(flag)
    {
        flag_ = true;
    }
    ~During() { flag_ = false; }
    During(const During&) = delete;
    During& operator=(const During&) = delete;

private:
    bool& flag_;
};

std::uint64_t random_seed()
{
    std::random_device device;
    return (std::uint64_t(device()) << 32) ^ device();
}

}  // namespace

/// What was posted last may be that a conversation is gone.
LocalEngine::~LocalEngine()
{
    poll({});
    unload();
}

Result<ModelInfo> LocalEngine::load(const LoadRequest& request, const Listener& listener, std::stop_token stop)
try {
    unload();
    const During loading(loading_);
    cancel_load_ = false;
    const std::int64_t start = now_us();
    LoadedModel::Progress progress;
    progress.report = [&](const LoadProgress& done) {
        if (listener.on_load)
            listener.on_load(done);
    };
    progress.cancelled = [&] {
        attend(listener);
        return cancel_load_ || stop.stop_requested();
    };
    progress.warn = [&](std::string sentence) {
        send(listener, make_event(Event::Kind::Warning, std::move(sentence)));
    };
    auto model = LoadedModel::load(request, progress);
    if (!model)
        return tl::unexpected(model.error());
    model_ = std::move(*model);
    said_no_template_ = false;
    Event finished = make_event(Event::Kind::LoadFinished);
    finished.bytes = model_->weight_bytes();
    finished.duration_us = finished.time_us - start;
    send(listener, finished);
    send_idle_frame(listener);
    return model_->info();
} catch (...) {
    auto error = caught("for this model and context");
    unload();
    return error;
}

void LocalEngine::unload()
{
    if (model_)
        saved_.release_all(*model_, kGraceForSaving);
    conversations_.clear();
    frames_ = {};
    model_.reset();
}

Result<SequenceId> LocalEngine::create_sequence()
try {
    if (!model_)
        return fail(Error::Code::NotLoaded, "no model is loaded");
    return conversations_.create();
} catch (...) {
    return caught("for another conversation");
}

Result<SequenceId> LocalEngine::branch(SequenceId from, int tokens)
try {
    if (!model_ || !conversations_.find(from))
        return fail(Error::Code::NotLoaded, "there is no such conversation");
    return conversations_.branch(from, tokens, model_->cache());
} catch (...) {
    return caught("for another conversation");
}

void LocalEngine::end_sequence(SequenceId sequence)
{
    if (model_)
        conversations_.end(sequence, model_->cache());
}

Result<Turn> LocalEngine::generate(SequenceId sequence, const Request& request, const Listener& listener,
                                   std::stop_token stop)
try {
    Conversation* const conversation = conversations_.find(sequence);
    if (!model_ || !conversation)
        return fail(Error::Code::NotLoaded, "no model is loaded");
    if (const Status ok = check(request.sampling); !ok)
        return tl::unexpected(ok.error());
    conversations_.use(sequence);
    auto turn = generate_checked(*conversation, request, listener, stop);
    if (!turn && turn.error().code == Error::Code::CannotRead)
        unload();  // the weights are gone
    return turn;
} catch (...) {
    return caught("to go on");
}

Result<Turn> LocalEngine::generate_checked(Conversation& conversation, const Request& request, const Listener& listener,
                                           std::stop_token stop)
{
    conversation.saved_as = request.saved_as;
    model_->placement().begin_turn(conversation.pins);
    if (!request.messages.empty() && !model_->info().has_chat_template && !said_no_template_) {
        said_no_template_ = true;
        send(listener,
             make_event(Event::Kind::Warning,
                        "the model has no chat template; the conversation is given to it in the ChatML form"));
    }
    const auto goes_on = [&] { return !stop.stop_requested(); };
    SavedStart saved = saved_.open(*model_, conversation, request.saved_as, goes_on);
    TurnHost host{*model_,
                  frames_,
                  listener,
                  stop,
                  [&] { attend(listener); },
                  [&](Conversation& current) { return make_room(current); },
                  std::move(saved),
                  [&] { saved_.forget(request.saved_as); }};
    TurnRunner runner(std::move(host), conversation, request, request.sampling.seed.value_or(random_seed()));
    auto turn = run(runner);
    placement_changed_ = false;  // its last frame says it
    if (turn)
        saved_.save(*model_, conversation, request.saved_as);
    send_placement_events(listener);
    if (turn && !turn->ledger.dropped_messages.empty()) {
        Event dropped = make_event(Event::Kind::TurnsDropped,
                                   std::to_string(turn->ledger.dropped_messages.size()) +
                                       " of the oldest messages were left out, since the context is full");
        dropped.cause = Event::Cause::ContextFull;
        send(listener, dropped);
    }
    return turn;
}

Result<Turn> LocalEngine::run(TurnRunner& runner)
{
    const During generating(generating_);
    return runner.run();
}

/// Frees memory for the conversation that goes on: another one is forgotten, or memory of saving is given back.
bool LocalEngine::make_room(const Conversation& except)
{
    return conversations_.forget_oldest(except, model_->cache()) || saved_.release_all(*model_, {});
}

Result<int> LocalEngine::count_tokens(std::string_view text, std::stop_token stop) const
try {
    if (!model_)
        return fail(Error::Code::NotLoaded, "no model is loaded");
    // A message stands behind what the template writes before it.
    EncodeOptions options{EncodeOptions::Specials::AsText, model_->info().has_chat_template
                                                               ? EncodeOptions::Start::Middle
                                                               : EncodeOptions::Start::Beginning};
    options.stop = stop;
    const int tokens = int(model_->tokenizer().encode(text, options).size());
    if (stop.stop_requested())
        return fail(Error::Code::Cancelled, "the count was stopped");
    return tokens;
} catch (...) {
    return caught("for the tokens of so much text");
}

Result<PromptLedger> LocalEngine::count_prompt(const Request& request, std::stop_token stop) const
try {
    if (!model_)
        return fail(Error::Code::NotLoaded, "no model is loaded");
    if (request.messages.empty() && request.raw_prompt.empty()) {  // nothing is there to be asked yet
        PromptLedger nothing;
        nothing.total_tokens = int(
            model_->tokenizer().encode("", {EncodeOptions::Specials::Parse, EncodeOptions::Start::Beginning}).size());
        return nothing;
    }
    Request whole = request;
    whole.full_context = FullContext::Stop;
    // What the model said counts as the ids it was said in, as in the next turn.
    const Conversation* const known = conversations_.find_saved_as(request.saved_as);
    const auto replies = known ? std::span<const KeptReply>(known->replies) : std::span<const KeptReply>();
    const PromptBuilder builder(model_->chat_template(), model_->tokenizer(), replies, std::move(stop));
    auto prompt = builder.build(whole, std::numeric_limits<int>::max(), 0);
    if (!prompt)
        return tl::unexpected(prompt.error());
    return std::move(prompt->ledger);
} catch (...) {
    return caught("to count the prompt");
}

std::uint64_t LocalEngine::post(Command command)
{
    std::uint64_t id = 0;
    try {
        id = mailbox_.post(std::move(command));
        if (on_posted)
            on_posted();
    } catch (...) {
        return id;  // whoever could not be woken comes with the next command, or with the next turn
    }
    return id;
}

void LocalEngine::poll(const Listener& listener)
try {
    attend(listener);
} catch (...) {
    tell_of(caught("to look after the model").value(), listener);
}

void LocalEngine::tell_of(const Error& error, const Listener& listener) noexcept
try {
    send(listener, make_event(Event::Kind::Warning, error.what));
} catch (...) {
    return;  // whoever cannot even be told hears of it with the next thing that fails
}

/// Does what was asked for, as far as the state of the engine allows:
///   no model        answers commands
///   between steps   answers commands, then moves one layer or one column of KV
///   idle            answers commands and moves layers and KV until all is as wanted, with frames that show it
/// In each it tells what has been saved meanwhile.
void LocalEngine::attend(const Listener& listener)
{
    carry_out_posted(listener);
    while (model_ && model_->placement().advance() && !generating_) {
        placement_changed_ = true;
        send_placement_events(listener);
        if (now_us() - frames_.last_us() >= Frames::kIntervalUs)
            send_idle_frame(listener);
        carry_out_posted(listener);
    }
    if (model_ && !generating_)
        model_->placement().settle();
    send_placement_events(listener);
    if (model_ && !generating_ && placement_changed_)
        send_idle_frame(listener);
    collect_saved(listener);
}

void LocalEngine::collect_saved(const Listener& listener)
{
    for (const Event& event : saved_.collect(model_.get()))
        send(listener, event);
}

void LocalEngine::carry_out_posted(const Listener& listener)
{
    for (const Mailbox::Posted& posted : mailbox_.take_all()) {
        Event answer = make_event(Event::Kind::CommandDone);
        answer.command = posted.id;
        try {
            std::visit([&](const auto& command) { carry_out(command, answer); }, posted.command);
        } catch (...) {
            answer.ok = false;
            answer.sentence = caught("to do this").value().what;
        }
        answer.duration_us = now_us() - answer.time_us;
        send(listener, answer);
    }
}

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

void LocalEngine::carry_out(const PlacementCommand& command, Event& answer)
{
    ask_placement(answer, [&](ModelPlacement& placement) { return placement.apply(command); });
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
        Conversation* const conversation = conversations_.last();
        if (!conversation)
            return fail(Error::Code::BadRequest, "there is no conversation yet whose tokens could be kept");
        if (std::ranges::any_of(command.tokens, [](const TokenRange& r) { return r.first < 0 || r.last < r.first; }))
            return fail(Error::Code::BadRequest, "no conversation has such tokens");
        Status done = placement.set_pins(command.tokens);
        if (done)
            conversation->pins = command.tokens;
        return done;
    });
}

void LocalEngine::carry_out(const SetDevice& command, Event& answer)
{
    ask_placement(answer, [&](ModelPlacement&) -> Status {
        KvInUse in_use;
        if (const Conversation* last = conversations_.last())
            in_use = {last->kv.pages, last->kv.length(), last->pins};
        return model_->change_device(command.placement, std::move(in_use));
    });
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

void LocalEngine::send_placement_events(const Listener& listener)
{
    if (model_)
        for (const Event& event : model_->placement().take_events())
            send(listener, event);
}

/// Sends a frame that says where everything lies while no turn runs.
void LocalEngine::send_idle_frame(const Listener& listener)
{
    placement_changed_ = false;
    if (!listener.on_telemetry)
        return;
    const KvSequence none;
    const Conversation* const last = conversations_.last();
    listener.on_telemetry(frames_.make(*model_, last ? last->kv : none, Phase::Idle));
}

std::unique_ptr<Engine> make_engine()
{
    return std::make_unique<LocalEngine>();
}

}  // namespace engine
