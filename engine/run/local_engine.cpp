#include "engine/run/local_engine.h"

#include "engine/caught.h"
#include "engine/draft_model.h"
#include "engine/metrics/clock.h"
#include "engine/run/embedding.h"
#include "engine/run/events.h"

#include <algorithm>
#include <limits>
#include <random>
#include <system_error>
#include <utility>

namespace engine {

namespace {

/// Sets a flag for as long as a scope lasts, however it ends.
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

/// Returns 53 random bits: a client that keeps its numbers as doubles can ask for the same answer again.
std::uint64_t random_seed()
{
    std::random_device device;
    return ((std::uint64_t(device()) << 32) ^ device()) >> 11;
}

}  // namespace

/// Carries out what was posted last, which may be that a conversation is gone. Layers that were to move stay where they
/// are.
LocalEngine::~LocalEngine()
{
    try {
        carry_out_posted({});
    } catch (...) {
        // There was no memory even to answer: what was left of it is not done.
    }
    unload();
}

Result<ModelInfo> LocalEngine::load(const LoadRequest& request, const Listener& listener, std::stop_token stop)
try {
    unload();
    const During loading(state_.loading);
    state_.cancel_load = false;
    const std::int64_t start = now_us();
    LoadedModel::Progress progress;
    std::error_code none;
    const auto draft_bytes = request.draft_model.empty() ? 0 : std::filesystem::file_size(request.draft_model, none);
    progress.report = [&](LoadProgress done) {
        if (state_.model)  // the model is loaded: this is the draft model's progress
            done.bytes_done += state_.model->weight_bytes();
        done.bytes_total += state_.model ? state_.model->weight_bytes() : none ? 0 : std::int64_t(draft_bytes);
        if (listener.on_load)
            listener.on_load(done);
    };
    progress.cancelled = [&] {
        attend(listener);
        return state_.cancel_load || stop.stop_requested();
    };
    progress.warn = [&](std::string sentence) {
        send(listener, make_event(Event::Kind::Warning, std::move(sentence)));
    };
    if (!request.draft_model.empty())  // before the long work
        if (Status ok = may_draft(request.model, request.draft_model); !ok)
            return tl::unexpected(ok.error());
    auto model = LoadedModel::load(request, progress);
    if (!model)
        return tl::unexpected(model.error());
    state_.model = std::move(*model);
    state_.model->cache().states().ask_for_more(
        [this] { return state_.conversations.take_from_oldest(state_.model->cache()); });
    if (Status ok = load_draft(request, progress); !ok) {
        unload();
        return tl::unexpected(ok.error());
    }
    said_no_template_ = looked_for_mtp_ = false;
    Event finished = make_event(Event::Kind::LoadFinished);
    finished.bytes = state_.model->weight_bytes();
    finished.duration_us = finished.time_us - start;
    send(listener, finished);
    send_idle_frame(listener);
    ModelInfo info = state_.model->info();
    info.draft_model = state_.draft ? state_.draft->info().name : std::string();
    return info;
} catch (...) {
    auto error = caught("for this model and context");
    unload();
    return error;
}

/// Loads the draft model. Where there is too little memory for it, answers come without its guesses.
Status LocalEngine::load_draft(const LoadRequest& request, const LoadedModel::Progress& progress)
{
    if (request.draft_model.empty())
        return {};
    auto draft = DraftModel::load(request, *state_.model, progress);
    if (draft)
        state_.draft = std::move(*draft);
    else if (draft.error().code == Error::Code::NoMemory)
        progress.warn("the draft model is left out: " + draft.error().what);
    else
        return tl::unexpected(draft.error());
    return {};
}

/// Returns the model's block that guesses tokens. It takes memory, so it is made when a turn first guesses. Null: the
/// file has none that is of use.
MtpModel* LocalEngine::mtp_for(const Request& request, const Listener& listener)
{
    const bool wanted = request.drafters == Drafters::All || request.drafters == Drafters::Mtp;
    if (request.most_drafted <= 0 || !wanted || std::exchange(looked_for_mtp_, true))
        return state_.mtp.get();
    std::optional<Error> error;
    try {
        auto made = MtpModel::make(*state_.model);
        if (made)
            state_.mtp = std::move(*made);
        else
            error = made.error();
    } catch (...) {
        error = caught("for guessing tokens").value();
    }
    if (error)
        send(listener, make_event(Event::Kind::Warning,
                                  "the block of the model's file that guesses tokens is not used: " + error->what));
    return state_.mtp.get();
}

void LocalEngine::unload()
{
    end_all_turns();
    if (state_.model)
        state_.saved.release_all(*state_.model, kGraceForSaving);
    state_.conversations.clear();
    frames_ = {};
    state_.draft.reset();
    state_.mtp.reset();
    state_.model.reset();
}

Result<SequenceId> LocalEngine::create_sequence()
try {
    if (!state_.model)
        return fail(Error::Code::NotLoaded, "no model is loaded");
    return state_.conversations.create();
} catch (...) {
    return caught("for another conversation");
}

Result<SequenceId> LocalEngine::branch(SequenceId from, int tokens)
try {
    if (!state_.model || !state_.conversations.find(from))
        return fail(Error::Code::NotLoaded, "there is no such conversation");
    return state_.conversations.branch(from, tokens, state_.model->cache());
} catch (...) {
    return caught("for another conversation");
}

void LocalEngine::end_sequence(SequenceId sequence)
{
    end_turn_of(sequence);
    if (state_.model)
        state_.conversations.end(sequence, state_.model->cache());
}

/// Begins a turn, computes its steps and ends it.
Result<Turn> LocalEngine::generate(SequenceId sequence, const Request& request, const Listener& listener,
                                   std::stop_token stop)
try {
    const auto turn = begin(sequence, request, listener, std::move(stop));
    if (!turn)
        return tl::unexpected(turn.error());
    for (bool over = false; !over;)
        over = std::ranges::count(step(listener), *turn) > 0;
    return end(*turn);
} catch (...) {
    return caught("to go on");
}

Result<TurnId> LocalEngine::begin(SequenceId sequence, const Request& request, const Listener& listener,
                                  std::stop_token stop)
try {
    Conversation* const conversation = state_.conversations.find(sequence);
    if (!state_.model || !conversation)
        return fail(Error::Code::NotLoaded, "no model is loaded");
    if (conversation->answered_now)
        return fail(Error::Code::BadRequest, "this conversation is being answered: a second answer has to wait");
    if (turns_.running() >= kMostRowsTogether)
        return fail(Error::Code::BadRequest,
                    std::to_string(kMostRowsTogether) + " conversations are being answered: another one has to wait");
    if (const Status ok = check(request.sampling); !ok)
        return tl::unexpected(ok.error());
    state_.conversations.use(sequence);
    RunningTurn& turn = turns_.add(sequence, *conversation, listener);
    const TurnId id = turn.id;
    Status begun;
    try {
        begun = begin_checked(turn, request, std::move(stop));
    } catch (...) {
        begun = caught("to go on");
    }
    if (!begun) {
        conversation->answered_now = false;
        turns_.remove(id);
        return tl::unexpected(begun.error());
    }
    return id;
} catch (...) {
    return caught("to go on");
}

Status LocalEngine::begin_checked(RunningTurn& turn, const Request& request, std::stop_token stop)
{
    Conversation& conversation = *turn.conversation;
    conversation.saved_as = request.saved_as;
    state_.model->placement().begin_turn(conversation.pins);
    if (!request.messages.empty() && !state_.model->info().has_chat_template && !said_no_template_) {
        said_no_template_ = true;
        send(turn.listener,
             make_event(Event::Kind::Warning,
                        "the model has no chat template; the conversation is given to it in the ChatML form"));
    }
    const auto goes_on = [&] { return !stop.stop_requested(); };
    SavedStart saved = state_.saved.open(*state_.model, conversation, request.saved_as, goes_on);
    TurnHost host{*state_.model,
                  conversation.frames,
                  turn.listener,
                  std::move(stop),
                  [this](Conversation&) { return make_room(); },
                  std::move(saved),
                  [this, name = request.saved_as] { state_.saved.forget(name); },
                  turn.sequence,
                  state_.draft.get(),
                  mtp_for(request, turn.listener)};
    turn.stepper = std::make_unique<TurnStepper>(std::move(host), conversation, request,
                                                 request.sampling.seed.value_or(random_seed()));
    return turn.stepper->begin();
}

std::vector<TurnId> LocalEngine::step(const Listener& listener)
try {
    try {
        attend(listener);
        if (state_.model)
            turns_.step(*state_.model);
    } catch (...) {
        turns_.fail_all(caught("to go on").value());
    }
    return finish_turns(listener);
} catch (...) {
    return {};  // there was no memory even for the error: the next step reports it
}

/// Finishes the turns that are over and returns their ids.
std::vector<TurnId> LocalEngine::finish_turns(const Listener& listener)
{
    std::vector<TurnId> over;
    bool weights_gone = false;
    for (RunningTurn& turn : turns_.all()) {
        if (turn.stepper && turn.stepper->over()) {
            finish(turn, listener);
            weights_gone = weights_gone || (!*turn.result && turn.result->error().code == Error::Code::CannotRead);
        }
        if (turn.result)
            over.push_back(turn.id);
    }
    if (weights_gone)
        unload();
    return over;
}

void LocalEngine::finish(RunningTurn& turn, const Listener& listener)
{
    turn.result = turn.stepper->result();
    Conversation& conversation = *std::exchange(turn.conversation, nullptr);
    conversation.answered_now = false;
    moves_on_ = state_.model->placement().end_turn(conversation.kv.pages) || moves_on_;
    const std::unique_ptr<TurnStepper> done = std::move(turn.stepper);
    turns_.wake_all();
    try {
        go_on_moving();
        state_.placement_changed = false;  // the turn's last frame says it
        if (*turn.result)
            state_.saved.save(*state_.model, conversation, conversation.saved_as);
        send_placement_events(listener);
        if (state_.draft)
            if (auto complaint = state_.draft->take_complaint())
                send(turn.listener, make_event(Event::Kind::Warning, std::move(*complaint)));
        if (state_.mtp)
            if (auto complaint = state_.mtp->take_complaint())
                send(turn.listener, make_event(Event::Kind::Warning, std::move(*complaint)));
        if (!*turn.result || (*turn.result)->ledger.dropped_messages.empty())
            return;
        const std::size_t count = (*turn.result)->ledger.dropped_messages.size();
        Event dropped =
            make_event(Event::Kind::TurnsDropped,
                       std::to_string(count) + " of the oldest messages were left out, since the context is full");
        dropped.cause = Event::Cause::ContextFull;
        send(turn.listener, dropped);
    } catch (...) {
        turn.result = caught("to go on");
    }
}

Result<Turn> LocalEngine::end(TurnId id)
try {
    RunningTurn* const turn = turns_.find(id);
    if (!turn)
        return fail(Error::Code::BadRequest, "there is no such turn, or it was ended before");
    if (turn->stepper) {
        turn->stepper->cancel();
        finish(*turn, turn->listener);
    }
    Result<Turn> result = std::move(*turn->result);
    turns_.remove(id);
    return result;
} catch (...) {
    return caught("to end the answer");
}

/// Ends the turn of a conversation that is about to end.
void LocalEngine::end_turn_of(SequenceId sequence)
{
    RunningTurn* const turn = turns_.of(sequence);
    if (!turn)
        return;
    turn->stepper->cancel();
    finish(*turn, turn->listener);
}

/// Ends all turns, since the model goes.
void LocalEngine::end_all_turns()
{
    for (RunningTurn& turn : turns_.all())
        if (turn.stepper) {
            turn.stepper.reset();
            turn.conversation = nullptr;
            turn.result = fail(Error::Code::NotLoaded, "the model was unloaded while it answered");
        }
}

/// Frees memory for a conversation that goes on: another one that is not answered now gives some up, or pages that wait
/// to be saved are given back.
bool LocalEngine::make_room()
{
    return state_.conversations.take_from_oldest(state_.model->cache()) || state_.saved.release_all(*state_.model, {});
}

Result<int> LocalEngine::count_tokens(std::string_view text, std::stop_token stop) const
try {
    if (!state_.model)
        return fail(Error::Code::NotLoaded, "no model is loaded");
    // A message stands in the middle of a text, behind what the template writes before it.
    EncodeOptions options{EncodeOptions::Specials::AsText, state_.model->info().has_chat_template
                                                               ? EncodeOptions::Start::Middle
                                                               : EncodeOptions::Start::Beginning};
    options.stop = stop;
    const int tokens = int(state_.model->tokenizer().encode(text, options).size());
    if (stop.stop_requested())
        return fail(Error::Code::Cancelled, "the count was stopped");
    return tokens;
} catch (...) {
    return caught("for the tokens of so much text");
}

Result<PromptLedger> LocalEngine::count_prompt(const Request& request, std::stop_token stop) const
try {
    if (!state_.model)
        return fail(Error::Code::NotLoaded, "no model is loaded");
    if (request.messages.empty() && request.raw_prompt.empty() &&
        request.raw_ids.empty()) {  // nothing is asked for yet
        PromptLedger nothing;
        nothing.total_tokens = int(state_.model->tokenizer()
                                       .encode("", {EncodeOptions::Specials::Parse, EncodeOptions::Start::Beginning})
                                       .size());
        return nothing;
    }
    Request whole = request;
    whole.full_context = FullContext::Stop;
    // What the model said is counted by the ids that it was said in, as in the next turn.
    const Conversation* const known = state_.conversations.find_saved_as(request.saved_as);
    const auto replies = known ? std::span<const KeptReply>(known->replies) : std::span<const KeptReply>();
    const PromptBuilder builder(state_.model->chat_template(), state_.model->tokenizer(), replies, std::move(stop));
    auto prompt = builder.build(whole, std::numeric_limits<int>::max(), 0);
    if (!prompt)
        return tl::unexpected(prompt.error());
    return std::move(prompt->ledger);
} catch (...) {
    return caught("to count the prompt");
}

Result<Embedding> LocalEngine::embed(const EmbeddingInput& input, std::stop_token stop)
try {
    if (!state_.model)
        return fail(Error::Code::NotLoaded, "no model is loaded");
    state_.model->placement().go_on({});
    KvSequence sequence;
    const auto room = [this] { return make_room(); };
    Result<Embedding> made = fail(Error::Code::NoMemory, "not enough memory for an embedding");
    try {
        made = embedding_of(*state_.model, input, sequence, room, stop);
    } catch (...) {
        made = caught("for an embedding");
    }
    state_.model->cache().truncate(sequence, 0);
    if (!made && made.error().code == Error::Code::CannotRead && !turns_.any())  // else a turn finds the error
        unload();
    return made;
} catch (...) {
    return caught("for an embedding");
}

std::uint64_t LocalEngine::post(Command command)
{
    std::uint64_t id = 0;
    try {
        id = mailbox_.post(std::move(command));
        if (on_posted)
            on_posted();
    } catch (...) {
        return id;  // where waking fails, the owner comes with the next command, or with the next turn
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
    return;  // where even telling fails, the listener hears of the next error
}

/// Does what was asked for, as far as the state of the engine allows:
///   no model        answers commands
///   between steps   answers commands, then moves one layer or one column of KV
///   idle            answers commands and moves layers and KV until all is as wanted, with frames that show it; but
///                   where on_posted wakes the owner, only for a moment, so that whoever waits meanwhile comes first
/// In each state it reports what has been saved meanwhile.
void LocalEngine::attend(const Listener& listener)
{
    constexpr std::int64_t kMomentUs = 20'000;  // a layer takes longer
    const std::int64_t start = now_us();
    carry_out_posted(listener);
    while ((moves_on_ = move_something()) && !turns_.any()) {
        send_placement_events(listener);
        if (now_us() - frames().last_us() >= Frames::kIntervalUs)
            send_idle_frame(listener);
        if (on_posted && now_us() - start >= kMomentUs)
            break;
        carry_out_posted(listener);
    }
    const bool rests = state_.model && !turns_.any() && !moves_on_;
    if (rests)
        state_.model->placement().settle();
    send_placement_events(listener);
    if (rests && state_.placement_changed)
        send_idle_frame(listener);
    collect_saved(listener);
    go_on_moving();
}

/// Has the owner call poll() again while more has to move. While turns run, their steps do that.
void LocalEngine::go_on_moving()
{
    if (moves_on_ && !turns_.any() && on_posted)
        on_posted();
}

/// Moves one small part of what is to lie elsewhere, or, while nothing runs, prepares a part that the next step would
/// wait for.
bool LocalEngine::move_something()
{
    if (!state_.model)
        return false;
    const bool moved = state_.model->placement().advance();
    state_.placement_changed = state_.placement_changed || (moved && !turns_.any());
    return moved || (!turns_.any() && state_.model->placement().ready_host_part());
}

void LocalEngine::collect_saved(const Listener& listener)
{
    for (const Event& event : state_.saved.collect(state_.model.get()))
        send(listener, event);
}

void LocalEngine::carry_out_posted(const Listener& listener)
{
    for (const Mailbox::Posted& posted : mailbox_.take_all()) {
        Event answer = make_event(Event::Kind::CommandDone);
        answer.command = posted.id;
        try {
            commands_.carry_out(posted.command, answer);
        } catch (...) {
            answer.ok = false;
            answer.sentence = caught("to do this").value().what;
        }
        answer.duration_us = now_us() - answer.time_us;
        send(listener, answer);
    }
}

void LocalEngine::send_placement_events(const Listener& listener)
{
    if (!state_.model)
        return;
    const int block_tokens = state_.model->cache().block_tokens();
    for (Event& event : state_.model->placement().take_events()) {
        if (event.page >= 0)
            event.sequences =
                state_.conversations.with_page(event.page, std::size_t(event.tokens.first / block_tokens));
        send(listener, event);
    }
}

/// Returns the frames of the conversation that was used last.
Frames& LocalEngine::frames()
{
    Conversation* const last = state_.conversations.last();
    return last ? last->frames : frames_;
}

/// Sends a frame that says where everything lies while no turn runs.
void LocalEngine::send_idle_frame(const Listener& listener)
{
    state_.placement_changed = false;
    if (!listener.on_telemetry)
        return;
    const KvSequence none;
    const Conversation* const last = state_.conversations.last();
    Telemetry frame =
        frames().make(*state_.model, last ? last->kv : none, last ? last->experts.get() : nullptr, Phase::Idle);
    frame.sequence = last ? state_.conversations.last_used() : 0;
    if (state_.draft)
        frame.draft_model = state_.draft->telemetry();
    if (state_.mtp)
        frame.mtp = state_.mtp->telemetry();
    listener.on_telemetry(frame);
}

std::unique_ptr<Engine> make_engine()
{
    return std::make_unique<LocalEngine>();
}

}  // namespace engine
