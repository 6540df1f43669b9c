#include "app/server/engine_desk.h"

#include "app/server/client_watch.h"
#include "app/server/turn_listener.h"
#include "engine/caught.h"
#include "engine/draft_model.h"

#include <algorithm>
#include <future>
#include <iterator>
#include <new>
#include <utility>

namespace server {

static Refusal about_to_stop()
{
    return {Refusal::Kind::Busy, "the server is about to stop"};
}

/// Holds a turn that runs. It is never moved, since its listeners refer to it.
struct EngineDesk::Running {
    Waiting asked;
    std::size_t place = 0;  // of places_
    std::unique_ptr<TurnListener> listener = {};
    engine::SequenceId sequence = 0;
    engine::TurnId turn = 0;             // 0: it has not begun
    bool has_waited_for_memory = false;  // the engine warned of it while the turn ran
};

/// Holds work for the engine's thread. Its functions are called there, under the lock.
struct EngineDesk::Job {
    std::function<void()> work;
    const ModelFile* model = nullptr;  // the model that it needs; null: it may be about any
    bool holds = false;                // it goes on with work that was begun, and the model stays until its end

    bool changes_model(const EngineDesk& desk) const { return !model || !(desk.guest_ || desk.serves(*model)); }
    bool may_be_done(const EngineDesk& desk) const;
};

/// Says whether the job may be done now. Where its model is there, it waits for the end of a step only, else until no
/// turn runs. New work lets turns that wait for another model go first: clients that embed without a pause would keep
/// the model for ever.
bool EngineDesk::Job::may_be_done(const EngineDesk& desk) const
{
    if (changes_model(desk))
        return desk.running_.empty() && (holds || std::ranges::none_of(desk.jobs_, &Job::holds));
    return holds || !desk.another_model_is_waited_for();
}

/// Holds the texts of a request, which are embedded by one job after another.
struct EngineDesk::Batch {
    EngineDesk& desk;
    const ModelFile& with;
    const std::vector<engine::EmbeddingInput>& texts;
    const std::function<bool()>& client_is_gone;
    std::vector<engine::Embedding> made = {};
    std::promise<engine::Result<std::vector<engine::Embedding>>> done = {};

    void go_on();
    engine::Status embed_next();
};

EngineDesk::EngineDesk(std::unique_ptr<engine::Engine> engine, DeskOptions options, Metrics& metrics)
    : engine_(std::move(engine))
    , options_(std::move(options))
    , metrics_(metrics)
    , load_(options_.load)
    , places_(std::size_t(std::clamp(options_.turns, 1, engine::kMostRowsTogether)))
{
    engine_->on_posted = [this] { wake(); };
    thread_ = std::thread([this] { work(); });
}

EngineDesk::EngineDesk(SharedEngine& shared, DeskOptions options, Metrics& metrics, Opened opened)
    : opened_(std::move(opened))
    , options_(std::move(options))
    , metrics_(metrics)
    , places_(std::size_t(std::clamp(options_.turns, 1, engine::kMostRowsTogether - 1)))
{
    auto guest = shared.guest([this] { wake(); });
    guest_ = guest.get();
    engine_ = std::move(guest);
    opened_(std::nullopt);
    follow();
    thread_ = std::thread([this] { work(); });
}

/// Wakes the engine's thread. Any thread may call it.
void EngineDesk::wake()
{
    const std::lock_guard lock(mutex_);
    posted_ = true;
    came_.notify_all();
}

EngineDesk::~EngineDesk()
{
    close({});
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
        came_.notify_all();
    }
    thread_.join();
    engine_.reset();  // until then the engine may call wake()
}

/// Gives the engine's thread a job. Any thread may call it.
void EngineDesk::push(Job job)
{
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
    came_.notify_all();
}

/// Has the engine's thread do the work when no turn runs, and waits for its result.
template <class Work>
auto EngineDesk::on_engine_thread(Work work) -> decltype(work())
{
    std::promise<decltype(work())> done;
    auto result = done.get_future();
    push({[&done, &work] {
        try {
            done.set_value(work());
        } catch (...) {
            done.set_value(engine::caught("for this request"));
        }
    }});
    return result.get();
}

engine::Status EngineDesk::load(const engine::LoadRequest& request, std::string name, const engine::Listener& listener)
{
    return on_engine_thread([&] {
        load_ = request;
        return load_now(request, std::move(name), listener, closing_.get_token());
    });
}

engine::Result<std::shared_ptr<const Served>> EngineDesk::need(const ModelFile& file)
{
    if (auto there = served(); there && there->name == file.name)
        return there;
    return on_engine_thread([&]() -> engine::Result<std::shared_ptr<const Served>> {
        if (const engine::Status done = ensure(file, closing_.get_token()); !done)
            return tl::unexpected(done.error());
        return served();
    });
}

engine::Status EngineDesk::let_go(const ModelFile& file)
{
    if (guest_)
        return engine::fail(engine::Error::Code::Unsupported,
                            "'" + file.name + "' is open in Spillway's window, and is closed there only");
    if (const auto there = served(); !there || there->name != file.name)
        return {};
    return on_engine_thread([&]() -> engine::Status {
        if (serves(file))
            unload();
        return {};
    });
}

/// This and the next three functions are called on the engine's thread, while no turn runs.
engine::Status EngineDesk::load_now(const engine::LoadRequest& request, std::string name,
                                    const engine::Listener& listener, std::stop_token stop)
{
    known_.clear();
    set_served(nullptr);
    auto info = engine_->load(request, listener, std::move(stop));
    if (!info)
        return tl::unexpected(info.error());
    auto text = ModelText::open(request.model);
    if (!text)
        return tl::unexpected(text.error());
    set_served(std::make_shared<Served>(Served{std::move(name), std::move(*info), std::move(*text)}));
    return {};
}

engine::Status EngineDesk::ensure(const ModelFile& file, std::stop_token stop)
{
    if (serves(file))
        return {};
    if (guest_)
        return served_ ? engine::fail(engine::Error::Code::NotFound, "'" + file.name + "' is no longer open: '" +
                                                                         served_->name + "' is, in Spillway's window")
                       : engine::fail(engine::Error::Code::NotLoaded, "'" + file.name + "' is no longer open");
    engine::LoadRequest request = load_;
    request.model = file.path;
    if (!request.draft_model.empty() && !engine::may_draft(request.model, request.draft_model))
        request.draft_model.clear();  // the draft model was chosen for another model
    return load_now(request, file.name, {}, std::move(stop));
}

/// Does ensure() for a turn whose client may leave meanwhile. The load goes on while any client waits for the model,
/// and is given up when the last of them has left.
engine::Status EngineDesk::ensure_for(const Waiting& asked)
{
    if (guest_ || serves(*asked.ask.file))
        return ensure(*asked.ask.file, {});
    std::stop_source given_up;
    const auto give_up = [&] { given_up.request_stop(); };
    const std::stop_callback closes(closing_.get_token(), give_up);
    const std::function<bool()> nobody_waits = [&] {
        return asked.events->stop_token().stop_requested() && !one_waits_for(*asked.ask.file);
    };
    // A client's turns are cancelled one after another, and other clients may leave later: so it asks again and again.
    const ClientWatch watch(nobody_waits);
    const std::stop_callback left(watch.stop(), give_up);
    return ensure(*asked.ask.file, given_up.get_token());
}

bool EngineDesk::one_waits_for(const ModelFile& file) const
{
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(waiting_, [&](const Waiting& other) {
        return other.ask.file && other.ask.file->path == file.path && !other.events->stop_token().stop_requested();
    });
}

bool EngineDesk::serves(const ModelFile& file) const
{
    return served_ && served_->name == file.name && (!guest_ || served_->info.path == file.path);
}

/// Takes the model that a borrowed engine has open now; if it is another one, the conversations that were known are
/// gone.
void EngineDesk::follow()
{
    if (!guest_)
        return;
    const OpenModel open = guest_->look();
    if (open.generation == generation_)
        return;
    generation_ = open.generation;
    known_.clear();
    set_served(nullptr);
    metrics_.forget_telemetry();
    try {
        take_up(open);
    } catch (const std::bad_alloc&) {
        set_served(nullptr);  // a model that cannot be described counts as none
        opened_(std::nullopt);
    }
}

void EngineDesk::take_up(const OpenModel& open)
{
    auto text = open.model ? ModelText::open(open.model->path)
                           : engine::fail(engine::Error::Code::NotLoaded, "no model is open");
    if (!text)
        return opened_(std::nullopt);
    const std::filesystem::path path = open.model->path;
    const std::string name = client_name(path);
    set_served(std::make_shared<Served>(Served{name, *open.model, std::move(*text)}));
    opened_(ModelFile{name, path, open.model->file_bytes});
}

void EngineDesk::unload()
{
    known_.clear();
    set_served(nullptr);
    engine_->unload();
    metrics_.forget_telemetry();
}

void EngineDesk::set_served(std::shared_ptr<const Served> served)
{
    const std::lock_guard lock(mutex_);
    served_ = std::move(served);
    if (served_)
        last_name_ = served_->name;
}

std::shared_ptr<const Served> EngineDesk::served() const
{
    const std::lock_guard lock(mutex_);
    return served_;
}

std::string EngineDesk::last_name() const
{
    const std::lock_guard lock(mutex_);
    return last_name_;
}

tl::expected<EngineDesk::Submitted, Refusal> EngineDesk::submit(Ask ask)
{
    if (ask.turn.most_drafted < 0)
        ask.turn.most_drafted = options_.most_drafted;
    ask.turn.drafters = options_.drafters;
    const std::lock_guard lock(mutex_);
    if (closed_)
        return tl::unexpected(about_to_stop());
    forget_those_that_left();
    if (!waiting_.empty() && waiting_.size() + std::size_t(ask.answers()) > std::size_t(options_.waiting))
        return tl::unexpected(Refusal{Refusal::Kind::Busy, std::to_string(waiting_.size()) +
                                                               " requests wait already, and " +
                                                               std::to_string(options_.waiting) + " may"});
    const int answers = ask.answers();
    const std::vector<RawPrompt> prompts = std::exchange(ask.prompts, {});
    Submitted submitted{std::make_shared<EventQueue>(), {}, ask.choices};
    for (int answer = 0; answer < answers; ++answer) {
        submitted.turns.push_back(std::make_shared<TurnEvents>(submitted.events, answer));
        waiting_.push_back({ask, submitted.turns.back(), Clock::now()});
        engine::Request& turn = waiting_.back().ask.turn;
        if (ask.turn.sampling.seed)  // each choice gets a seed of its own, the first one the seed itself
            turn.sampling.seed = *ask.turn.sampling.seed + std::uint64_t(answer % ask.choices);
        if (!prompts.empty()) {
            turn.raw_prompt = prompts[std::size_t(answer / ask.choices)].text;
            turn.raw_ids = prompts[std::size_t(answer / ask.choices)].ids;
        }
    }
    came_.notify_all();
    return submitted;
}

engine::Result<std::vector<engine::Embedding>> EngineDesk::embed(const ModelFile& with,
                                                                 const std::vector<engine::EmbeddingInput>& texts,
                                                                 const std::function<bool()>& client_is_gone)
{
    Batch batch{*this, with, texts, client_is_gone};
    auto result = batch.done.get_future();
    push({[&batch] { batch.go_on(); }, &with});
    return result.get();
}

/// Embeds one more text. The next one has a job of its own, so that answers, and other clients' texts, go on between
/// them. Once the result is set, this object may be gone.
void EngineDesk::Batch::go_on()
{
    try {
        if (const engine::Status embedded = embed_next(); !embedded)
            return done.set_value(tl::unexpected(embedded.error()));
        if (made.size() < texts.size())
            return desk.push({[this] { go_on(); }, &with, true});
        done.set_value(std::move(made));
    } catch (...) {
        done.set_value(engine::caught("for this request"));
    }
}

engine::Status EngineDesk::Batch::embed_next()
{
    const std::stop_token stop = desk.closing_.get_token();
    if (stop.stop_requested())
        return engine::fail(engine::Error::Code::Cancelled, about_to_stop().sentence);
    if (client_is_gone())
        return engine::fail(engine::Error::Code::Cancelled, "the client is gone");
    if (engine::Status there = desk.ensure(with, stop); !there)
        return there;
    auto embedding = desk.engine_->embed(texts[made.size()], stop);
    if (!desk.guest_ && !desk.engine_->loaded())  // the engine closed the model by itself
        desk.unload();
    if (!embedding)
        return tl::unexpected(embedding.error());
    made.push_back(std::move(*embedding));
    return {};
}

/// Forgets waiting requests whose clients have left. Called under the lock.
void EngineDesk::forget_those_that_left()
{
    std::erase_if(waiting_, [](const Waiting& waiting) { return waiting.events->stop_token().stop_requested(); });
}

EngineDesk::Queue EngineDesk::queue() const
{
    const std::lock_guard lock(mutex_);
    return {running_count(), int(waiting_.size())};
}

std::vector<EngineDesk::Slot> EngineDesk::turn_slots() const
{
    std::vector<Slot> slots;
    const std::lock_guard lock(mutex_);
    for (const Place& place : places_)
        slots.push_back(place.slot);
    return slots;
}

/// Counts the turns that run. Called under the lock.
int EngineDesk::running_count() const
{
    return int(std::ranges::count_if(places_, [](const Place& place) { return place.events != nullptr; }));
}

void EngineDesk::close(std::chrono::milliseconds grace)
{
    std::unique_lock lock(mutex_);
    closed_ = true;
    came_.wait_for(lock, grace, [this] { return waiting_.empty() && running_count() == 0; });
    for (const Waiting& waiting : waiting_)  // these turns never begin, so their end is reported here
        waiting.events->put(Failed{about_to_stop()});
    waiting_.clear();
    closing_.request_stop();
    for (const Place& place : places_)
        if (place.events)
            place.events->cancel();
}

void EngineDesk::work()
{
    while (wait_for_work()) {
        follow();
        do_jobs();
        begin_those_that_may();
        if (!running_.empty())
            step();
    }
}

/// Waits for something to do. False: the desk is closed, and nothing is left to do.
bool EngineDesk::wait_for_work()
{
    bool poll = false;
    {
        std::unique_lock lock(mutex_);
        const auto any = [this] {
            return ends_ || posted_ || !jobs_.empty() || !waiting_.empty() || !running_.empty();
        };
        if (options_.idle_unload.count() == 0 || !served_) {
            came_.wait(lock, any);
        } else if (!came_.wait_for(lock, options_.idle_unload, any)) {
            lock.unlock();
            unload();
            return true;
        }
        if (ends_ && jobs_.empty() && waiting_.empty() && running_.empty())
            return false;
        poll = std::exchange(posted_, false) && running_.empty();  // a step also does what was posted
    }
    if (poll)
        engine_->poll({});
    return true;
}

/// Does the jobs that are there and may be done, each of them once: those that they push wait for the next time.
void EngineDesk::do_jobs()
{
    for (std::optional<std::size_t> there;;) {
        std::list<Job> now;
        {
            const std::lock_guard lock(mutex_);
            const auto end = std::next(jobs_.begin(), std::ptrdiff_t(there.value_or(jobs_.size())));
            const auto next = std::find_if(jobs_.begin(), end, [&](const Job& job) { return job.may_be_done(*this); });
            if (next == end)
                return;
            there = there.value_or(jobs_.size()) - 1;
            now.splice(now.end(), jobs_, next);
        }
        now.front().work();
    }
}

/// Says whether the turn that begins next needs another model than the one that is there. Called under the lock.
bool EngineDesk::another_model_is_waited_for() const
{
    return !guest_ && !waiting_.empty() && waiting_.front().ask.file && !serves(*waiting_.front().ask.file);
}

/// Begins waiting turns in the order in which they came, as long as there are places.
void EngineDesk::begin_those_that_may()
{
    for (std::size_t place = 0; std::optional<Waiting> next = next_to_begin(place);) {
        const auto events = next->events;
        try {
            begin(std::move(*next), place);
        } catch (...) {
            events->put(Failed{refusal_of(engine::caught("for this request").value())});
            leave(place);
        }
    }
}

/// Returns the turn that begins next. Empty: none waits, or none may begin. A turn that waits for memory, or for the
/// end of all others since it needs another model, is not overtaken by newer ones: it might wait for ever. The model
/// does not go while texts of a request are still to be embedded.
std::optional<EngineDesk::Waiting> EngineDesk::next_to_begin(std::size_t& place)
{
    const std::lock_guard lock(mutex_);
    forget_those_that_left();
    const auto free = std::ranges::find_if(places_, [](const Place& p) { return !p.events; });
    const bool one_waits = std::ranges::any_of(running_, &Running::has_waited_for_memory) ||
                           std::ranges::any_of(jobs_, [&](const Job& job) { return job.changes_model(*this); });
    const bool stays = running_count() > 0 || std::ranges::any_of(jobs_, &Job::holds);
    if (waiting_.empty() || free == places_.end() || one_waits || (stays && another_model_is_waited_for())) {
        came_.notify_all();  // close() looks at the queue
        return std::nullopt;
    }
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    place = std::size_t(free - places_.begin());
    *free = {next.events, {.running = true}};
    return next;
}

void EngineDesk::leave(std::size_t place)
{
    const std::lock_guard lock(mutex_);
    places_[place] = {};
    came_.notify_all();
}

void EngineDesk::begin(Waiting asked, std::size_t place)
{
    const auto running = running_.insert(running_.end(), Running{std::move(asked), place});
    const Waiting& a = running->asked;
    try {
        running->listener = std::make_unique<TurnListener>(a.ask, *a.events, metrics_, a.since);
        if (a.ask.file)
            if (const engine::Status there = ensure_for(a); !there)
                return end(running, tl::unexpected(there.error()));
        std::string text = conversation_text(a.ask.turn);
        const auto sequence = sequence_for(text);
        if (!sequence)
            return end(running, tl::unexpected(sequence.error()));
        running->sequence = *sequence;
        known_.asked(*sequence, std::move(text));
        const auto turn = engine_->begin(*sequence, a.ask.turn, listener_of(*running), a.events->stop_token());
        if (!turn)
            return end(running, tl::unexpected(turn.error()));
        running->turn = *turn;
    } catch (...) {
        known_.answered(running->sequence);
        running_.erase(running);
        throw;
    }
}

engine::Listener EngineDesk::listener_of(Running& running)
{
    engine::Listener listener = running.listener->listener();
    listener.on_telemetry = [this, place = running.place, &running](const engine::Telemetry& frame) {
        metrics_.set_telemetry(frame);
        running.listener->on_frame(frame);
        const std::lock_guard lock(mutex_);
        places_[place].slot = {true, frame.context_tokens, frame.prompt_tokens, frame.reused_tokens,
                               frame.generated_tokens};
    };
    listener.on_event = [this, &running](const engine::Event& event) {
        metrics_.add_event(event);
        if (running.turn != 0 && event.kind == engine::Event::Kind::Warning)
            running.has_waited_for_memory = true;
    };
    return listener;
}

void EngineDesk::step()
{
    engine::Listener listener;
    listener.on_telemetry = [this](const engine::Telemetry& frame) { metrics_.set_telemetry(frame); };
    listener.on_event = [this](const engine::Event& event) { metrics_.add_event(event); };
    for (const engine::TurnId turn : engine_->step(listener)) {
        const auto running = std::ranges::find(running_, turn, &Running::turn);
        const auto result = engine_->end(turn);
        if (running != running_.end())
            end(running, result);
    }
    if (!guest_ && !engine_->loaded())  // the engine closed the model itself: its file cannot be read any more
        unload();
}

/// Ends a turn that is over or could not begin, and sends its last event.
void EngineDesk::end(std::list<Running>::iterator running, const engine::Result<engine::Turn>& turn)
{
    const std::size_t place = running->place;
    known_.answered(running->sequence);
    try {
        const auto served = this->served();
        running->listener->end(turn, served ? served->info.context_in_use : 0);
    } catch (...) {
        running->asked.events->put(Failed{refusal_of(engine::caught("for this request").value())});
    }
    running_.erase(running);
    leave(place);
}

/// Returns the sequence of the conversation that has most of this one's KV, or a new one.
engine::Result<engine::SequenceId> EngineDesk::sequence_for(const std::string& text)
{
    const KnownConversations::Match match = known_.match(text);
    if (match.goes_on)
        return *match.goes_on;
    auto sequence = match.begins_like ? engine_->branch(*match.begins_like, -1) : engine_->create_sequence();
    if (sequence)
        known_.asked(*sequence, {});
    while (const auto old = known_.one_too_many(options_.conversations)) {
        engine_->end_sequence(*old);
        known_.forget(*old);
    }
    return sequence;
}

}  // namespace server
